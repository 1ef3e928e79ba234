import { describe, expect, test } from 'vitest'
import { pairsHere, usualPair } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { type LoadedUpgrade, upgradeUnderLoad } from '../../../proof/upgrade-under-load.ts'

/** Redis 7.0 and valkey 8.1, unless --pair asks for others. */
const { from: older, to: newer } = usualPair()
const sibling = pairsHere()[1]?.from ?? older

const upgrades: readonly (Pick<LoadedUpgrade, 'from' | 'to' | 'kind'> & Partial<LoadedUpgrade>)[] = [
  { from: older, to: newer, kind: 'set' },
  { from: older, to: newer, kind: 'incr', preserveRoles: true },
  { from: sibling, to: newer, kind: 'incr' },
  { from: older, to: newer, kind: 'set', persistence: 'aof', preserveRoles: true },
  { from: sibling, to: newer, kind: 'set', persistence: 'snapshot' },
  { from: older, to: newer, kind: 'incr', replication: false },
]

describe('an upgrade under load loses no acknowledged write and executes none twice', () => {
  for (const upgrade of upgrades) {
    const traits = [
      upgrade.kind.toUpperCase(),
      ...(upgrade.preserveRoles ? ['preserve_roles'] : []),
      ...(upgrade.replication === false ? ['one shard'] : []),
      ...(upgrade.persistence ? [upgrade.persistence] : []),
    ]
    test(`${upgrade.from} → ${upgrade.to} (${traits.join(', ')})`, async () => {
      await using fairlead = await startFairlead()
      const proof = await upgradeUnderLoad(fairlead, upgrade)
      expect(proof.examples).toEqual([])
      const { lost, duplicated, fullSyncs, errorKinds, reconnects } = proof
      expect({ lost, duplicated, fullSyncs, errorKinds, reconnects }).toEqual({
        lost: 0,
        duplicated: 0,
        fullSyncs: 0,
        errorKinds: {},
        reconnects: 0,
      })
      expect(proof.acked).toBeGreaterThan(20_000)
      expect(proof.to).toBe(upgrade.to.replace('-', ' '))
      expect(proof.action.certificates.length).toBe(upgrade.preserveRoles ? 2 : 1)
      for (const certificate of proof.action.certificates) {
        expect(certificate).toMatchObject({
          offset_to: certificate.offset_from,
          full_syncs: 0,
          recovered: false,
        })
      }
    })
  }
})

test('without memory for a surge shard the upgrade is done in place, and loses nothing either', async () => {
  await using fairlead = await startFairlead({ env: { FAIRLEAD_NODE_MEMORY_MB: '100' } })
  const proof = await upgradeUnderLoad(fairlead, {
    from: older,
    to: newer,
    kind: 'incr',
    preserveRoles: true,
    perSecond: 5_000,
  })
  expect(proof.examples).toEqual([])
  expect(proof.action.certificates.map(({ from, to }) => [from, to])).toEqual([
    ['1', '2'],
    ['2', '1'],
  ])
  expect({ lost: proof.lost, duplicated: proof.duplicated, fullSyncs: proof.fullSyncs }).toEqual({
    lost: 0,
    duplicated: 0,
    fullSyncs: 0,
  })
})

import { describe, expect } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { upgradeUnderLoad } from '../../proof/upgrade-under-load.ts'
import { test } from '../support/shared-fairlead.ts'

const pair = usualPair()

/** Every way through an upgrade, and every pair of builds, is in e2e/proof/upgrades. */
// invariant: No acknowledged write is lost, none is executed twice.
describe('an upgrade under load loses no acknowledged write and executes none twice', () => {
  test.for([
    ['of a database that keeps its data in an AOF', { kind: 'set', persistence: 'aof' }, 1],
    ['that gives the role back to the first shard', { kind: 'incr', preserveRoles: true }, 2],
    ['of a sharded database', { kind: 'incr', groups: 3 }, 3],
  ] as const)('%s', async ([, database, handovers], { fairlead }) => {
    const proof = await upgradeUnderLoad(fairlead, { ...pair, ...database, warmUp: 5_000, perSecond: 10_000 })
    const { lost, duplicated, fullSyncs, examples, errorKinds, reconnects } = proof
    expect({ lost, duplicated, fullSyncs, examples }).toEqual({
      lost: 0,
      duplicated: 0,
      fullSyncs: 0,
      examples: [],
    })
    // The clients of a sharded database connect to its shards here, and follow their roles.
    if (!('groups' in database)) expect({ errorKinds, reconnects }).toEqual({ errorKinds: {}, reconnects: 0 })
    expect(proof.acked).toBeGreaterThan(10_000)
    expect(proof.to).toBe(pair.to.replace('-', ' '))
    expect(proof.certificates).toHaveLength(handovers)
    for (const { offset_from, offset_to, full_syncs, recovered } of proof.certificates)
      expect([offset_to, full_syncs, recovered]).toEqual([offset_from, 0, false])
    expect(proof.action).toMatchObject({ outcome: 'completed', warnings: [] })
  })
})

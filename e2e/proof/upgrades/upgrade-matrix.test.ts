import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBuild, hasWayBack, pairsHere } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { type LoadedUpgrade, upgradeUnderLoad } from '../../../proof/upgrade-under-load.ts'

/** Kinds of databases, and the orders that people give. `handovers`: how many are needed in all. */
const kinds: readonly (Omit<LoadedUpgrade, 'from' | 'to'> & { what: string; handovers: number })[] = [
  { what: 'replicated', kind: 'set', handovers: 1 },
  { what: '3 groups with replicas', kind: 'incr', groups: 3, handovers: 3 },
  { what: 'one shard', kind: 'incr', replication: false, handovers: 1 },
  { what: 'a rollback after the handover', kind: 'incr', afterwards: 'roll back', handovers: 2 },
  { what: 'AOF, one shard', kind: 'set', persistence: 'aof', replication: false, handovers: 1 },
  { what: '3 groups of one shard', kind: 'set', groups: 3, replication: false, handovers: 3 },
  { what: 'a rollback of a rollback', kind: 'incr', afterwards: 'roll back twice', handovers: 3 },
  { what: '3 groups, a rollback', kind: 'incr', groups: 3, afterwards: 'roll back', handovers: 6 },
  { what: '3 groups, preserve_roles', kind: 'set', groups: 3, preserveRoles: true, handovers: 6 },
  { what: 'supervised, AOF', kind: 'set', persistence: 'aof', supervised: true, handovers: 1 },
  { what: 'preserve_roles', kind: 'incr', preserveRoles: true, handovers: 2 },
  {
    what: '3 groups, a rollback of a rollback',
    kind: 'incr',
    groups: 3,
    afterwards: 'roll back twice',
    handovers: 9,
  },
]

/** Then a rollback is requested and refused, and the original primaries do not get their role back. */
function withoutWayBack<K extends (typeof kinds)[number]>(kind: K): K {
  const afterwards = kind.afterwards === undefined ? {} : { afterwards: 'ask in vain' as const }
  return { ...kind, ...afterwards, handovers: kind.groups ?? 1 }
}

/**
 * Small loads: these tests prove the result, not the speed. Beside a busy neighbour the API named the new
 * primaries 250 ms late; here a hint is an API that goes on to name the old ones.
 */
const load = { warmUp: 3_000, perSecond: 4_000, connections: 12, apiMayLagMs: 10_000 }

const pairs = pairsHere()
/**
 * Redis 8 does not read the files of valkey 9, only its replication stream. Valkey 9 reads the files of redis
 * 8, also those of a replica that is restarted on it. Not in one cluster: core/requests/resolve-upgrade.ts.
 */
const [foreign, reader] = [findBuild('redis', '8.0'), findBuild('valkey', '9')]
let fairlead: Fairlead

beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

describe('every way through an upgrade loses nothing, does nothing twice and needs no full sync', () => {
  // Each kind of database once, with the pairs of builds in turn.
  const cases = kinds.map((kind, n) => {
    const pair = pairs[n % pairs.length]
    return pair === undefined || hasWayBack(pair) ? { ...kind, pair } : { ...withoutWayBack(kind), pair }
  })
  const replicated = kinds.find(({ what }) => what === 'preserve_roles')
  const [plain] = kinds
  if (plain !== undefined && replicated !== undefined && foreign !== undefined && reader !== undefined)
    cases.push(
      { ...replicated, pair: { from: foreign, to: reader } },
      { ...plain, pair: { from: reader, to: foreign } },
    )
  for (const { what, handovers, pair, ...kind } of cases) {
    if (pair === undefined) throw new Error('there is no pair of builds')
    test(`${pair.from} → ${pair.to}: ${what}`, { timeout: 180_000 }, async () => {
      const proof = await upgradeUnderLoad(fairlead, { ...pair, ...kind, ...load })
      expect(proof.examples).toEqual([])
      const { lost, duplicated, fullSyncs, errorKinds } = proof
      expect({ lost, duplicated, fullSyncs, hints: errorKinds['hint'] }).toEqual({
        lost: 0,
        duplicated: 0,
        fullSyncs: 0,
        hints: undefined,
      })
      expect(proof.acked).toBeGreaterThan(2 * load.warmUp)
      const end = kind.afterwards === 'roll back' ? pair.from : pair.to
      expect(proof.to).toBe(end.replace('-', ' '))
      // If a rollback is reversed before all groups have gone back, the other groups need no further
      // handover.
      if (kind.afterwards === 'roll back twice')
        expect(proof.certificates.length).toBeLessThanOrEqual(handovers)
      else expect(proof.certificates.length).toBe(handovers)
      for (const { offset_from, offset_to, full_syncs, recovered } of proof.certificates)
        expect({ offset_to, full_syncs, recovered }).toEqual({
          offset_to: offset_from,
          full_syncs: 0,
          recovered: false,
        })
      expect(proof.action.warnings).toEqual([])
    })
  }
})

import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { undo } from '../../../test/simulation/action.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { propertyWithinMs, runsOf as runs } from '../../../test/simulation/runs.ts'
import { beginUpgrade, shapes } from '../../../test/simulation/upgrade.ts'
import { splitSlots } from './database.ts'
import { revisionOf, runsOf } from './goal.ts'
import { asServed, servingBuilds } from './serving.ts'

const before = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }
const after = { build: { flavour: 'valkey', version: '8.1.1' }, restartNonce: 1, modules: [] }

const groupsOf = (primaries: readonly (number | null)[]) =>
  splitSlots(primaries.length).map((slots, number) => {
    return { number, slots, primaryShard: primaries[number] ?? null, history: null }
  })

test('in a window, the new build serves beside the record of the old one', () => {
  const database = databaseOf({ ...before, groups: groupsOf([2]) })
  const shards = [shardOf(1, { runs: before }), shardOf(2, { runs: after })]
  expect(servingBuilds(database, shards)).toEqual([{ ...after.build, primaries: 1 }])
  expect(runsOf(asServed(database, shards))).toEqual(after)
})

test('while groups differ, both builds serve, and the record names the database', () => {
  const database = databaseOf({ ...before, groups: groupsOf([1, 3, 4]) })
  const shards = [
    shardOf(1, { runs: before }),
    shardOf(3, { runs: after, group: 1 }),
    shardOf(4, { runs: after, group: 2 }),
  ]
  expect(servingBuilds(database, shards)).toEqual([
    { ...after.build, primaries: 2 },
    { ...before.build, primaries: 1 },
  ])
  expect(asServed(database, shards)).toBe(database)
})

test('before a primary serves, nothing does', () => {
  const database = databaseOf({ ...before, groups: groupsOf([null]) })
  expect(servingBuilds(database, [shardOf(1, { runs: after })])).toEqual([])
  expect(asServed(database, [shardOf(1, { runs: after })])).toBe(database)
})

test(
  'whatever an upgrade or its rollback does, the named build is the one that the primaries run',
  async () => {
    const named = { moved: 0, back: 0 }
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action, pick } = beginUpgrade(shape)
        const end = await lead(action, {
          events: (one) => {
            if (!one.goal.undo && pick(25) === 0) named.back += Number(undo(one))
          },
          moment: (_, { world: { teams } }) => {
            const members = teams.flatMap((team) => team.members)
            const primaries = teams.map(({ recorded }) => members.find(({ id }) => id === recorded))
            const revisions = new Set(primaries.map((primary) => primary?.engine?.revision))
            if (revisions.size > 1 || revisions.has(undefined)) return
            const database = databaseOf({
              ...before,
              groups: groupsOf(teams.map(({ recorded }) => recorded)),
            })
            const shards = members.map(({ id, wanted }) => shardOf(id, { runs: wanted }))
            const served = revisionOf(asServed(database, shards))
            // A primary without replicas restarts in place with its new runs: it does not serve until then.
            if (primaries.some((one) => revisionOf(one?.wanted ?? before) !== one?.engine?.revision)) return
            expect([...revisions]).toEqual([served])
            named.moved += Number(served !== revisionOf(before))
          },
        })
        expect(end.kind).toBe('done')
      }),
      runs(60),
    )
    expect(named.moved).toBeGreaterThan(0)
    expect(named.back).toBeGreaterThan(0)
  },
  propertyWithinMs,
)

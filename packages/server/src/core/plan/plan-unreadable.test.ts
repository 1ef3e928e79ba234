import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { type Action, undo } from '../../../test/simulation/action.ts'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { lead, type Moment } from '../../../test/simulation/lead.ts'
import { look } from '../../../test/simulation/look.ts'
import { kill } from '../../../test/simulation/processes.ts'
import { propertyWithinMs, runsOf as times } from '../../../test/simulation/runs.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from '../../../test/simulation/upgrade.ts'
import { membersOf } from '../../../test/simulation/world.ts'
import { plainPolicy, revisionOf, runsOf } from '../state/goal.ts'
import { noOrders } from '../state/orders.ts'
import type { EngineState } from '../state/topology.ts'
import { wayBack } from '../state/way-back.ts'
import { planGroup } from './plan-group.ts'

const policy = { ...plainPolicy, rollbackWindow: 'until-finalized' } as const
const done = { kind: 'done', why: '' }

/** As with redis 7.0 → valkey 8.1: the old build reads no full sync of the new one. */
function beginOneWay(shape: Parameters<typeof beginUpgrade>[0]) {
  const begun = beginUpgrade({ ...shape, replicas: Math.max(1, shape.replicas), restart: false }, { policy })
  const fresh = revisionOf(begun.action.asked)
  begun.action.world.reads = (follower, source) => follower.revision === fresh || source.revision !== fresh
  return { ...begun, fresh }
}

/** Whether it waits for a person. A group whose last standby is gone has nothing more to do. */
const isIdle = (lanes: Moment['lanes']) =>
  lanes.every(({ verdict: { kind } }) => kind === 'hold' || kind === 'done')

const finalize = (action: Action) => Object.assign(action, { orders: { ...noOrders, finalize: true } })

test(
  'a standby that has died and cannot read the data any more is given up, and the upgrade can be finalized or taken back',
  async () => {
    const ends = { finalized: 0, 'rolled back': 0, closed: 0 }
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 4 }), async (shape, deaths) => {
        const { action, pick, fresh } = beginOneWay(shape)
        let [killed, held, useless] = [0, 0, 0]
        const end = await lead(action, {
          step: expectSound,
          moment: ({ lanes, seen }) => {
            const shards = seen.groups.flatMap((group) => group.shards)
            useless = shards.some(({ cannotRead, leaving }) => cannotRead && !leaving) ? useless + 1 : 0
            expect(useless).toBeLessThan(15)
            held = useless === 0 && isIdle(lanes) ? held + 1 : 0
          },
          events: () => {
            if (action.goal.undo || held < 3) return
            const standbys = membersOf(action.world).filter(
              ({ revision, engine }) => revision !== fresh && engine,
            )
            const victim = standbys[pick(standbys.length || 1)]
            if (killed < deaths && victim !== undefined && pick(3) === 0) {
              killed += 1
              kill(action.world, victim)
              held = 0
              return
            }
            if (held < 12) return
            const { eligible } = wayBack(look(action.world), action.asked)
            const isBack = eligible && pick(2) === 0
            ends[isBack ? 'rolled back' : eligible ? 'finalized' : 'closed'] += 1
            if (isBack) undo(action)
            else finalize(action)
          },
        })
        expect(end).toEqual(done)
        expectReached(action)
      }),
      times(50),
    )
    for (const [what, often] of Object.entries(ends)) expect(often, what).toBeGreaterThan(0)
  },
  propertyWithinMs,
)

test(
  'when standbys die during a rollback, it ends, or the upgrade is completed in its place',
  async () => {
    const ends = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 3 }), async (shape, deaths) => {
        const { action, pick, fresh } = beginOneWay(shape)
        let [killed, held] = [0, 0]
        const step = expectSound
        const first = await lead(action, {
          step,
          moment: ({ lanes }) => {
            if (isIdle(lanes)) held += 1
          },
          events: () => {
            // A standby may have needed a full sync at the handover, and be gone already.
            if (!action.goal.undo && held > 3 && !undo(action)) finalize(action)
            const standbys = membersOf(action.world).filter(
              ({ id, revision, group, engine }) =>
                revision !== fresh && engine !== null && id !== group.recorded,
            )
            const victim = standbys[pick(standbys.length || 1)]
            if (!action.goal.undo || killed === deaths || victim === undefined || pick(2) > 0) return
            killed += 1
            kill(action.world, victim)
          },
        })
        ends.set(first.kind, (ends.get(first.kind) ?? 0) + 1)
        if (first.kind === 'stuck') {
          // What `finalize` does then: core/requests/resolve-order.ts.
          Object.assign(action, { goal: action.asked, error: null, handedOverAt: null })
          expect(await lead(finalize(action), { step })).toEqual(done)
        }
        expectReached(action)
      }),
      times(50),
    )
    expect([...ends.keys()].toSorted()).toEqual(['done', 'stuck'])
  },
  propertyWithinMs,
)

test('a standby that has only lost its link is not given up, whatever full syncs before have shown', () => {
  const { shards, ...group } = groupOf(1)
  const handedOver = (change: Partial<EngineState>) => ({
    ...group,
    recordedPrimary: 1,
    shards: shards.map((shard) =>
      shard.id === 1 || shard.engine === null
        ? { ...shard, wanted: fresh, revision: revisionOf(fresh), cannotSend: true }
        : { ...shard, engine: { ...shard.engine, link: 'down' as const, ...change } },
    ),
  })
  const fresh = runsOf(goalOf())
  expect(planGroup(handedOver({ syncing: true }), goalOf(), 'handover')).toMatchObject({
    step: { kind: 'retire-shard', shard: 2, warns: true },
  })
  expect(planGroup(handedOver({}), goalOf(), 'handover')).not.toHaveProperty('step')
})

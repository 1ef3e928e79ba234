import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { giveUp, undo } from '../../../test/simulation/action.ts'
import { HOLE } from '../../../test/simulation/engines.ts'
import { goalOf, old } from '../../../test/simulation/group.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { look } from '../../../test/simulation/look.ts'
import { runsOf } from '../../../test/simulation/runs.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from '../../../test/simulation/upgrade.ts'
import { lastHandover, membersOf } from '../../../test/simulation/world.ts'
import { undoGoal } from '../state/action.ts'
import { plainPolicy, revisionOf } from '../state/goal.ts'
import { noOrders } from '../state/orders.ts'
import { isLive } from '../state/topology.ts'
import { wayBack } from '../state/way-back.ts'

const some = runsOf(25)
const done = { kind: 'done', why: '' }
const window = { ...plainPolicy, rollbackWindow: 'until-finalized' } as const

test('the goal that takes an upgrade back wants the old revision and roles, whatever was asked, and discards nothing', () => {
  const goal = goalOf({ restartNonce: 7, preserveRoles: false, discard: true })
  const back = undoGoal(goal)
  expect(back).toMatchObject({ ...old, undo: true, preserveRoles: true, discard: false, homes: goal.homes })
  expect(back.from).toEqual({ build: goal.build, modules: goal.modules, restartNonce: 7 })
  expect(undoGoal(goalOf({ from: null }))).toMatchObject({ kind: 'remove', undo: false })
})

describe('an upgrade that is taken back', () => {
  test('at any moment when this is possible leads to the old revision and primaries, with every write', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.nat({ max: 120 }), async (shape, moment) => {
        const { action } = beginUpgrade({ ...shape, preserveRoles: false }, { policy: window })
        let turn = 0
        const end = await lead(action, {
          step: expectSound,
          events: () => {
            turn += 1
            if (turn >= moment && !action.goal.undo) undo(action)
          },
        })
        expect(end).toEqual(done)
        expect(action.goal.undo).toBe(true)
        expectReached(action)
        expect(action.world.teams.map(({ recorded }) => recorded)).toEqual(action.asked.homes)
      }),
      some,
    )
  })

  test('is eligible in the whole rollback window, once every group has handed over and its standby follows', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(shape, { policy: window })
        let held = 0
        await lead(action, {
          moment: ({ seen, lanes }) => {
            if (action.goal.undo || !lanes.every(({ verdict }) => verdict.kind === 'hold')) return
            held += 1
            expect(wayBack(seen, action.asked).eligible).toBe(true)
            if (held > 5) undo(action)
          },
        })
        expect(held).toBeGreaterThan(5)
      }),
      some,
    )
  })

  test('and then wanted again reaches the goal, with every write', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.nat({ max: 60 }), fc.nat({ max: 40 }), async (shape, moment, later) => {
        const { action } = beginUpgrade(shape, { policy: { ...window } })
        let turn = 0
        let undone = -1
        const end = await lead(action, {
          step: expectSound,
          events: () => {
            turn += 1
            if (undone < 0 && turn >= moment && undo(action)) undone = turn
            if (undone < 0 || turn < undone + later || !action.goal.undo) return
            Object.assign(action, {
              goal: action.asked,
              error: null,
              orders: { ...noOrders, finalize: true },
            })
          },
        })
        // The undo may have been complete before the order changed.
        expect(end).toEqual(done)
        expectReached(action)
      }),
      some,
    )
  })
})

describe('a standby that could not carry out a command of its primary', () => {
  test('does not take its group back, and the way back is closed', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 2, max: 12 }), async (shape, often) => {
        const { action, pick } = beginUpgrade({ ...shape, restart: false }, { policy: window })
        const { world } = action
        const fresh = revisionOf(action.asked)
        world.stumbles = (follower, source) =>
          source.revision === fresh && follower.revision !== fresh && pick(often) === 0
        let held = 0
        const end = await lead(action, {
          events: () => {
            if (held < 5 || action.goal.undo) return
            const harmed = world.teams.some((team) =>
              team.members.some(
                ({ id, engine }) =>
                  id === lastHandover(team)?.standby.shard && (engine?.log.includes(HOLE) ?? false),
              ),
            )
            const { eligible } = wayBack(look(world), action.asked)
            if (harmed) expect(eligible).toBe(false)
            // The user repeats the order.
            giveUp(action, 'asked for again')
          },
          moment: ({ lanes }) => {
            if (lanes.every(({ verdict }) => verdict.kind === 'hold')) held += 1
          },
          step: (seen, step, _, { goal }) => {
            // Whether the role then goes back to the original primary is not tested here.
            const from = seen.shards.find((shard) => step.kind === 'hand-over' && shard.id === step.from)
            if (step.kind !== 'hand-over' || from?.revision === revisionOf(goal)) return
            const successor = membersOf(world).find(({ id }) => id === step.to)
            const observer = seen.shards.find((shard) => shard.id === step.to)
            expect(observer !== undefined && isLive(observer)).toBe(true)
            // A command that it skipped after the plan was made is found while writes are stopped, and the
            // role does not move.
            if (successor?.engine?.errorReplies === observer?.engine?.errorReplies)
              expect(successor?.engine?.log).not.toContain(HOLE)
          },
        })
        if (end.kind === 'stuck') expect(end.why).toMatch(/could not carry out|standby/)
      }),
      some,
    )
  })
})

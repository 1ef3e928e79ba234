import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { undo } from '../../../test/simulation/action.ts'
import { old } from '../../../test/simulation/group.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { look } from '../../../test/simulation/look.ts'
import { propertyWithinMs, runsOf as times } from '../../../test/simulation/runs.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from '../../../test/simulation/upgrade.ts'
import { plainPolicy, revisionOf } from '../state/goal.ts'
import { noOrders } from '../state/orders.ts'
import { wayBack } from '../state/way-back.ts'

const policy = { ...plainPolicy, rollbackWindow: 'until-finalized' } as const

test(
  'after an upgrade in place, an order that is offered leads to an end, though the old build has no ids of shards',
  async () => {
    const ends = { finalized: 0, 'rolled back': 0 }
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const [groups, replicas] = [Math.max(2, shape.groups), Math.max(1, shape.replicas)]
        const { action, pick } = beginUpgrade({ ...shape, groups, replicas, restart: false }, { policy })
        Object.assign(action.world, { memoryFreeBytes: 0, withoutShardIds: revisionOf(old) })
        let idle = 0
        const end = await lead(action, {
          step: expectSound,
          moment: ({ lanes }) => {
            const isIdle = lanes.every(({ verdict: { kind } }) => kind === 'hold' || kind === 'done')
            idle = isIdle ? idle + 1 : 0
          },
          events: () => {
            if (idle < 3 || action.goal.undo || action.orders.finalize) return
            const isBack = wayBack(look(action.world), action.asked).eligible && pick(2) === 0
            ends[isBack ? 'rolled back' : 'finalized'] += 1
            if (isBack) undo(action)
            else Object.assign(action, { orders: { ...noOrders, finalize: true } })
          },
        })
        expect(end).toEqual({ kind: 'done', why: '' })
        expectReached(action)
      }),
      times(40),
    )
    for (const [what, often] of Object.entries(ends)) expect(often, what).toBeGreaterThan(0)
  },
  propertyWithinMs,
)

import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { undo } from '../../../test/simulation/action.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { propertyWithinMs, runsOf } from '../../../test/simulation/runs.ts'
import {
  beginUpgrade,
  expectReached,
  expectSound,
  isFinal,
  shapes,
} from '../../../test/simulation/upgrade.ts'

test(
  'a rollback that is accepted while a turn is about to give old shards up ends as one: they are not given up',
  async () => {
    let late = 0
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action, pick } = beginUpgrade(shape)
        const end = await lead(action, {
          step: (seen, step, _, one) => {
            expectSound(seen, step)
            // The turn has looked, and decided; the order comes before it acts.
            if (one.goal.undo || !isFinal(step, seen, one.goal) || pick(3) > 0) return
            late += Number(undo(one))
          },
        })
        expect(end).toEqual({ kind: 'done', why: '' })
        expectReached(action)
      }),
      runsOf(60),
    )
    expect(late).toBeGreaterThan(0)
  },
  propertyWithinMs,
)

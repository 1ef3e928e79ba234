import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { propertyWithinMs, runsOf } from '../../../test/simulation/runs.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from '../../../test/simulation/upgrade.ts'

const done = { kind: 'done', why: '' }
const breaks = fc.integer({ min: 1, max: 12 })

test(
  'connections to engines break, before a command was carried out or after it, and an upgrade ends as if nothing had been',
  async () => {
    await fc.assert(
      fc.asyncProperty(shapes, breaks, fc.nat({ max: 10 }), async (shape, count, deaths) => {
        const { action, pick } = beginUpgrade(shape)
        action.world.breaks = count
        let left = deaths
        const effects = () => {
          if (left === 0 || pick(3) > 0) return Number.POSITIVE_INFINITY
          left -= 1
          return pick(9)
        }
        expect(await lead(action, { step: expectSound, effects })).toEqual(done)
        expectReached(action)
        const primaries = action.world.teams.map(({ recorded }) => recorded)
        if (shape.preserveRoles) expect(primaries).toEqual(action.asked.homes)
      }),
      runsOf(40),
    )
  },
  propertyWithinMs,
)

test(
  'the same with the look and the records of the whole turn',
  async () => {
    await fc.assert(
      fc.asyncProperty(shapes, breaks, async (shape, count) => {
        const { action } = beginUpgrade({ ...shape, groups: 1 + (shape.groups % 3) })
        action.world.breaks = count
        expect(await lead(action, { isWhole: true, step: expectSound })).toEqual(done)
        expect(action.error).toBeNull()
        expectReached(action)
      }),
      runsOf(10),
    )
  },
  propertyWithinMs,
)

import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { splitSlots } from './database.ts'
import { whyNotKnown } from './slot-map.ts'

const node = (id: string, slots: string, epoch = 1, myself = false) => ({ id, slots, epoch, myself })
const views = [
  [node('a', '0-8191', 1, true), node('b', '8192-16383', 2)],
  [node('a', '0-8191', 1), node('b', '8192-16383', 2, true)],
]

describe('a node that is to take over', () => {
  test('knows the slot map when its view of each primary is that primary’s own view', () => {
    const view = [node('c', '', 0, true), node('a', '0-8191', 1), node('b', '8192-16383', 2)]
    expect(whyNotKnown(view, views)).toBeUndefined()
  })

  test.each([
    [
      'a gap',
      [node('a', '0-8190', 1), node('b', '8192-16383', 2)],
      'knows the primaries of 16383 of 16384 slots',
    ],
    [
      'single slots count as one',
      [node('a', '0-8190 8191', 1), node('b', '8193-16383', 2)],
      'knows the primaries of 16383 of 16384 slots',
    ],
    ['nothing yet', [node('a', '', 1), node('b', '', 2)], 'knows the primaries of 0 of 16384 slots'],
    [
      'a stranger in the place of a primary',
      [node('a', '0-8191', 1), node('x', '8192-16383', 2)],
      'does not know every primary of the cluster yet',
    ],
    [
      'other bounds',
      [node('a', '0-8192', 1), node('b', '8193-16383', 2)],
      'has an old view of the slots of node a',
    ],
    [
      'an older epoch',
      [node('a', '0-8191', 1), node('b', '8192-16383', 1)],
      'has an old view of the slots of node b',
    ],
  ] as const)('does not, with %s', (_, view, why) => {
    expect(whyNotKnown(view, views)).toBe(why)
  })

  test('does not, where a primary does not know itself', () => {
    const [first = []] = views
    expect(whyNotKnown(first, [[node('a', '0-8191', 1), node('b', '8192-16383', 2)]])).toBe(
      'does not know every primary of the cluster yet',
    )
  })
})

describe('slots', () => {
  test('are distributed without a gap, in order, and as evenly as possible', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 512 }), (groups) => {
        const ranges = splitSlots(groups)
        expect(ranges.length).toBe(groups)
        expect(ranges[0]?.first).toBe(0)
        expect(ranges.at(-1)?.last).toBe(16_383)
        ranges.forEach(({ first }, n) => {
          if (n > 0) expect(first).toBe((ranges[n - 1]?.last ?? 0) + 1)
        })
        const sizes = ranges.map(({ first, last }) => last - first + 1)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 60 },
    )
  })

  test('of three groups are distributed as the engines’ own tools do it', () => {
    expect(splitSlots(3).map(({ first, last }) => `${first}-${last}`)).toEqual([
      '0-5461',
      '5462-10922',
      '10923-16383',
    ])
  })
})

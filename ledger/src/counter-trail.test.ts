import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { createCounterTrail } from './counter-trail.ts'

test('a correct engine is never reported, whenever it carries out the increments that it did not answer', () => {
  const events = fc.array(
    fc.constantFrom('answered', 'dropped', 'carried out unanswered', 'carried out late'),
  )
  fc.assert(
    fc.property(events, (happens) => {
      const trail = createCounterTrail()
      let value = 0
      let late = 0
      for (const event of happens) {
        if (event === 'answered') {
          value += 1
          expect(trail.acked(value)).toBe(true)
          value += late
          late = 0
        } else {
          trail.unknown()
          if (event === 'carried out unanswered') value += 1
          if (event === 'carried out late') late += 1
        }
      }
      expect(trail.judge(value + late)).toEqual({ lost: 0, duplicated: 0 })
    }),
  )
})

test('a missing acked increment is lost, and a surplus increment is duplicated', () => {
  const trail = createCounterTrail()
  expect([1, 2, 3].map(trail.acked)).toEqual([true, true, true])
  expect(trail.judge(2)).toEqual({ lost: 1, duplicated: 0 })
  expect(trail.judge(3)).toEqual({ lost: 0, duplicated: 0 })
  expect(trail.judge(5)).toEqual({ lost: 0, duplicated: 2 })
})

test('an answer that repeats or jumps is evidence by itself', () => {
  const repeats = createCounterTrail()
  repeats.acked(1)
  expect(repeats.acked(1)).toBe(false)
  expect(repeats.judge(1)).toEqual({ lost: 1, duplicated: 0 })
  const jumps = createCounterTrail()
  jumps.acked(1)
  expect(jumps.acked(3)).toBe(false)
  expect(jumps.judge(3)).toEqual({ lost: 0, duplicated: 1 })
})

test('an unanswered increment that was carried out does not hide an acked one that is gone', () => {
  const trail = createCounterTrail()
  trail.acked(1)
  trail.unknown()
  expect(trail.acked(3)).toBe(true)
  expect(trail.judge(2)).toEqual({ lost: 1, duplicated: 0 })
})

test('an unknown increment explains one difference, not two', () => {
  const trail = createCounterTrail()
  trail.unknown()
  expect(trail.acked(2)).toBe(true)
  expect(trail.acked(4)).toBe(false)
})

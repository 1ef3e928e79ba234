import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import type { SlotRange } from './database.ts'
import { readSlotRanges, slotsMissing, slotsOutside, slotsWithin, writeSlotRanges } from './slot-ranges.ts'

const numbers = (ranges: readonly SlotRange[]) =>
  ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, n) => first + n))
const range = fc
  .tuple(fc.nat(40), fc.nat(40))
  .map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }))

test('ranges are read as engines write them, and written for people', () => {
  expect(readSlotRanges('0-5460 7000')).toEqual([
    { first: 0, last: 5460 },
    { first: 7000, last: 7000 },
  ])
  expect(readSlotRanges('')).toEqual([])
  expect(writeSlotRanges(readSlotRanges('0-5460 7000'))).toBe('0-5460, 7000')
  expect(() => readSlotRanges('0-x')).toThrow('no slots')
})

test('the slots within, outside and missing are the same as when counted slot by slot', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 4 }), range, (ranges, one) => {
      const all = new Set(numbers(ranges))
      const whole = numbers([one])
      expect(new Set(numbers(slotsWithin(ranges, one)))).toEqual(new Set(whole.filter((n) => all.has(n))))
      expect(new Set(numbers(slotsOutside(ranges, one)))).toEqual(
        new Set([...all].filter((n) => !whole.includes(n))),
      )
      expect(numbers(slotsMissing(one, ranges))).toEqual(whole.filter((n) => !all.has(n)))
    }),
  )
})

import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { hashSlot, SLOTS } from './hash-slot.ts'
import type { Layout } from './layout.ts'
import { placeConnections } from './place-connections.ts'
import { holdsSlot, parseSlotRanges } from './slot-ranges.ts'

const cuts = fc.uniqueArray(fc.integer({ min: 1, max: SLOTS - 1 }), { maxLength: 6 })

test('connection i writes into a slot of group i mod n, and its tag is of that slot', () => {
  fc.assert(
    fc.property(cuts, fc.integer({ min: 0, max: 60 }), (between, more) => {
      const firsts = [0, ...between.toSorted((a, b) => a - b)]
      const groups = firsts.map((first, n) => `${first}-${(firsts[n + 1] ?? SLOTS) - 1}`)
      const places = placeConnections(groups.length + more, layoutOf(groups))
      expect(places).toHaveLength(groups.length + more)
      places.forEach(({ group, slot, tag }, connection) => {
        expect(group).toBe(connection % groups.length)
        expect(hashSlot(`prefix:{${tag}}:1`)).toBe(slot)
        expect(holdsSlot(parseSlotRanges(groups[group] ?? '') ?? [], slot)).toBe(true)
      })
    }),
    { numRuns: 30 },
  )
})

test('fewer connections than groups would leave one unwatched', () => {
  expect(() => placeConnections(1, layoutOf(['0-99', '100-16383']))).toThrow(
    'connections must be at least 2, one for each group, not 1',
  )
})

test('without sharding no key carries a tag', () => {
  expect(placeConnections(2, { ...layoutOf(['0-16383']), sharded: false })).toEqual(
    Array(2).fill({ group: 0, slot: 0, tag: '' }),
  )
})

function layoutOf(groups: readonly string[]): Layout {
  return { sharded: true, groups, primaryOf: () => null, slotsAt: () => null }
}

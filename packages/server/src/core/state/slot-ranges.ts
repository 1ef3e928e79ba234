import type { SlotRange } from './database.ts'

/** Reads ranges in engines' format, in order: "0-5460 7000". Empty for none. Throws for other text. */
export function readSlotRanges(text: string): readonly SlotRange[] {
  return text
    .split(' ')
    .filter((range) => range !== '')
    .map((range) => {
      const [first = Number.NaN, last = first] = range.split('-').map(Number)
      if (!Number.isInteger(first) || !Number.isInteger(last)) throw new Error(`no slots: ${text}`)
      return { first, last }
    })
}

/** Formats ranges for people: "0-5460, 7000". */
export function writeSlotRanges(ranges: readonly SlotRange[]): string {
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
}

/** Returns the slots of `ranges` inside `within`. */
export function slotsWithin(ranges: readonly SlotRange[], within: SlotRange): readonly SlotRange[] {
  return ranges
    .map(({ first, last }) => ({ first: Math.max(first, within.first), last: Math.min(last, within.last) }))
    .filter(({ first, last }) => first <= last)
}

/** Returns the slots of `ranges` outside of `without`. */
export function slotsOutside(ranges: readonly SlotRange[], without: SlotRange): readonly SlotRange[] {
  return ranges.flatMap((range) => [
    ...slotsWithin([range], { first: 0, last: without.first - 1 }),
    ...slotsWithin([range], { first: without.last + 1, last: LAST_SLOT }),
  ])
}

/** Returns the slots of `whole` in none of `ranges`, which are in order. */
export function slotsMissing(whole: SlotRange, ranges: readonly SlotRange[]): readonly SlotRange[] {
  return ranges.reduce<readonly SlotRange[]>(
    (missing, range) => missing.flatMap((part) => slotsOutside([part], range)),
    [whole],
  )
}

const LAST_SLOT = 16_383

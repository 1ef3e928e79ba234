import type { SlotRange } from './database.ts'

/** Ranges as the engines write them, in order: "0-5460 7000". Empty for none. Throws for any other text. */
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

/** As people read them: "0-5460, 7000". */
export function writeSlotRanges(ranges: readonly SlotRange[]): string {
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
}

/** The slots of `ranges` that lie in `within`. */
export function slotsWithin(ranges: readonly SlotRange[], within: SlotRange): readonly SlotRange[] {
  return ranges
    .map(({ first, last }) => ({ first: Math.max(first, within.first), last: Math.min(last, within.last) }))
    .filter(({ first, last }) => first <= last)
}

/** The slots of `ranges` that lie outside of `without`. */
export function slotsOutside(ranges: readonly SlotRange[], without: SlotRange): readonly SlotRange[] {
  return ranges.flatMap((range) => [
    ...slotsWithin([range], { first: 0, last: without.first - 1 }),
    ...slotsWithin([range], { first: without.last + 1, last: LAST_SLOT }),
  ])
}

/** The slots of `whole` that are in none of `ranges`, which are in order. */
export function slotsMissing(whole: SlotRange, ranges: readonly SlotRange[]): readonly SlotRange[] {
  return ranges.reduce<readonly SlotRange[]>(
    (missing, range) => missing.flatMap((part) => slotsOutside([part], range)),
    [whole],
  )
}

const LAST_SLOT = 16_383

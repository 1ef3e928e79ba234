import { SLOTS } from './hash-slot.ts'

/** First and last slot, both included. */
export type SlotRange = readonly [first: number, last: number]

/** "0-5460,8000" as ranges; null when the text is no list of slots. The empty text is no slot at all. */
export function parseSlotRanges(text: string): readonly SlotRange[] | null {
  if (text === '') return []
  const ranges = text.split(',').map(parseRange)
  return ranges.every((range) => range !== null) ? ranges : null
}

export function holdsSlot(ranges: readonly SlotRange[], slot: number): boolean {
  return ranges.some(([first, last]) => first <= slot && slot <= last)
}

function parseRange(text: string): SlotRange | null {
  const [, from = '', to = from] = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(text) ?? []
  if (from === '') return null
  const [first, last] = [Number(from), Number(to)]
  return first <= last && last < SLOTS ? [first, last] : null
}

import type { Values } from './columns.ts'

/** The last intervals in which a thing worked. It grows as it is filled. */
export interface Ring {
  /** A later slot than all before, or the last one again. */
  write(slot: number, values: Values): void
  /** What was written for this slot, or for the last one before it; null: for none. */
  at(slot: number): { readonly slot: number; readonly values: Values } | null
  readonly bytes: number
}

const FIRST_ROWS = 4

/** Empty. It keeps the last `most` rows; values lose what goes beyond seven digits. */
export function createRing(names: readonly string[], most: number): Ring {
  let slots = new Uint32Array(FIRST_ROWS)
  let cells = new Float32Array(FIRST_ROWS * names.length)
  let [first, rows] = [0, 0]

  const grow = () => {
    const capacity = Math.min(most, slots.length * 2)
    const [moreSlots, moreCells] = [new Uint32Array(capacity), new Float32Array(capacity * names.length)]
    moreSlots.set(slots)
    moreCells.set(cells)
    slots = moreSlots
    cells = moreCells
  }
  const placeOf = (row: number) => (first + row) % slots.length
  const slotAt = (row: number) => slots[placeOf(row)] ?? 0
  return {
    write(slot, values) {
      const isSame = rows > 0 && slotAt(rows - 1) === slot
      if (!isSame) {
        // It begins to go round only when it has its full length.
        if (rows === slots.length && rows < most) grow()
        if (rows === slots.length) first = (first + 1) % slots.length
        else rows += 1
      }
      const place = placeOf(rows - 1)
      slots[place] = slot
      for (const [n, name] of names.entries()) cells[place * names.length + n] = values[name] ?? Number.NaN
    },
    at(slot) {
      let [low, high] = [0, rows]
      while (low < high) {
        const middle = (low + high) >> 1
        if (slotAt(middle) <= slot) low = middle + 1
        else high = middle
      }
      if (low === 0) return null
      const place = placeOf(low - 1)
      const found = names.map((name, n) => [name, cells[place * names.length + n] ?? Number.NaN] as const)
      return {
        slot: slotAt(low - 1),
        values: Object.fromEntries(found.filter(([, value]) => !Number.isNaN(value))),
      }
    },
    get bytes() {
      return slots.byteLength + cells.byteLength
    },
  }
}

/** Numbers that look like chance and are the same for each seed (mulberry32). */
export interface Random {
  /** From 0 to below `end`. */
  below(end: number): number
  pick<T>(all: readonly T[]): T
  bytes(length: number): Buffer
}

export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    pick(all) {
      const one = all[below(all.length)]
      if (one === undefined) throw new Error('nothing to pick from')
      return one
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}

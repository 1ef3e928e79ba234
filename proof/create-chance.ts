/** Whole numbers from 0 to below 2 ** 32 that look random and are the same for the same seed (mulberry32). */
export function createDraws(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** The same as numbers from 0 to below 1: a test that prints its seed can be repeated. */
export function createChance(seed: number): () => number {
  const draw = createDraws(seed)
  return () => draw() / 2 ** 32
}

/** The same items in an order that `chance` chooses. */
export function shuffle<T>(items: readonly T[], chance: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** The items in groups of at most `most`. */
export function inRounds<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, n) =>
    items.slice(n * most, (n + 1) * most),
  )
}

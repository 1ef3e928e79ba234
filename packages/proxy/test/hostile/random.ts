import { createChance } from '../../../../proof/create-chance.ts'

/** Random choices that are the same for the same seed. */
export interface Random {
  /** From 0 to below `end`. */
  below(end: number): number
  pick<T>(all: readonly T[]): T
  bytes(length: number): Buffer
}

export function createRandom(seed: number): Random {
  const next = createChance(seed)
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

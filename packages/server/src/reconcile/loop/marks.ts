import { createDigest } from '@fairlead/api'

/** The marks of shards that were heard last, with their digest. */
export interface Marks {
  /** False: the shard has this mark already. */
  set(id: string, mark: string): boolean
  /** False: the shard has no mark. */
  delete(id: string): boolean
  clear(): void
  /** By the agent's names of shards. */
  ids(): Iterable<string>
  /** Calculated as the agent does it, at the same cost for any number of shards. */
  digest(): string
}

/** Starts without marks. */
export function createMarks(): Marks {
  const marks = new Map<string, string>()
  let digest = createDigest()
  return {
    set(id, mark) {
      const before = marks.get(id)
      if (before === mark) return false
      if (before !== undefined) digest.toggle(before)
      digest.toggle(mark)
      marks.set(id, mark)
      return true
    },
    delete(id) {
      const before = marks.get(id)
      if (before !== undefined) digest.toggle(before)
      return marks.delete(id)
    },
    clear() {
      marks.clear()
      digest = createDigest()
    },
    ids: () => marks.keys(),
    digest: () => digest.text(),
  }
}

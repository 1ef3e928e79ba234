import { createDigest } from '@fairlead/api'

/** The last received marks of shards, with their digest. */
export interface Marks {
  /** Returns false if the shard already has this mark. */
  set(id: string, mark: string): boolean
  /** Returns false if the shard has no mark. */
  delete(id: string): boolean
  clear(): void
  /** Returns the agent's names of shards. */
  ids(): Iterable<string>
  /** Calculated as by the agent, at a constant cost for any number of shards. */
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

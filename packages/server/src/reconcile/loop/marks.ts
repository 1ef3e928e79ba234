import { createDigest } from '@fairlead/api'

/** The marks of shards that were heard last, with their digest. */
export interface Marks {
  /** False: it has this one already. */
  set(id: string, mark: string): boolean
  /** False: it has none. */
  delete(id: string): boolean
  clear(): void
  /** By the agent's names of shards. */
  ids(): Iterable<string>
  /** As the agent reckons it; it costs the same for any number of shards. */
  digest(): string
}

/** None yet. */
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

/** Answers that are kept for a moment, by key. */
export interface ExpiringCache<Key, Value> {
  /** What is remembered of `key`; else what `read` answers, which is remembered if it does not fail. */
  get(key: Key, read: () => Promise<Value>): Promise<Value>
  /** What is remembered, at once; undefined when nothing is, or it has not been answered yet. */
  recall(key: Key): Value | undefined
  forget(key: Key): void
}

/**
 * Remembers answers for `forMs`, and `most` of them at a time (the oldest goes first). A change that is made here calls
 * `forget`; one that another server makes is seen after `forMs`.
 */
export function createExpiringCache<Key, Value>({
  forMs,
  most,
  now,
}: {
  readonly forMs: number
  readonly most: number
  readonly now: () => number
}): ExpiringCache<Key, Value> {
  const kept = new Map<Key, { value: Promise<Value>; answer: Value | undefined; untilMs: number }>()
  return {
    get(key, read) {
      const known = kept.get(key)
      if (known !== undefined && now() < known.untilMs) return known.value
      kept.delete(key)
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= most) kept.delete(oldest)
      const entry = { value: read(), answer: undefined as Value | undefined, untilMs: now() + forMs }
      kept.set(key, entry)
      entry.value.then(
        (answer) => {
          entry.answer = answer
        },
        // A failure is not an answer to keep; a newer entry is not ours to remove.
        () => kept.get(key) === entry && kept.delete(key),
      )
      return entry.value
    },
    recall(key) {
      const known = kept.get(key)
      return known !== undefined && now() < known.untilMs ? known.answer : undefined
    },
    forget: (key) => void kept.delete(key),
  }
}

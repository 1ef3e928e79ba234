/** Keeps answers for a short time, by key. */
export interface ExpiringCache<Key, Value> {
  /** Returns the remembered answer; else it calls `read`, and remembers the result unless it fails. */
  get(key: Key, read: () => Promise<Value>): Promise<Value>
  /** Returns the remembered answer without waiting; undefined if there is none yet. */
  recall(key: Key): Value | undefined
  forget(key: Key): void
}

/**
 * Remembers at most `most` answers, each for `forMs`; the oldest is dropped first.
 * A change on this server calls `forget`; a change on another server is seen after `forMs`.
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
        // A failure is not kept. A newer entry must not be removed.
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

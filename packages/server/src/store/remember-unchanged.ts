import type { Store } from './open-store.ts'

/** Answers to keep; the oldest is evicted. */
const MOST_KEPT = 1_000

/**
 * Caches answers of `read` until anything is written to the store: exact, and cheap if thousands of reads
 * come between two writes. Always reads on a shared store.
 */
export function rememberUnchanged<Key, Value>(
  { changes }: Pick<Store, 'changes'>,
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const kept = new Map<Key, { readonly at: number; readonly value: Promise<Value> }>()
  return (key) => {
    const at = changes() // before the read: later writes make the answer old
    const known = kept.get(key)
    if (known !== undefined && known.at === at) return known.value
    if (at === undefined) return read(key)
    kept.delete(key)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest)
    const value = read(key)
    kept.set(key, { at, value })
    value.catch(() => kept.delete(key)) // failures are not cached
    return value
  }
}

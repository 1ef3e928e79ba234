import type { Store } from './open-store.ts'

/** Answers that are kept; the oldest goes first. */
const MOST_KEPT = 1_000

/**
 * `read`, whose answers are remembered for as long as nothing at all is written to the store: exact, and cheap where
 * reads come in thousands between two writes. On a store that others write to as well it always reads.
 */
export function rememberUnchanged<Key, Value>(
  { changes }: Pick<Store, 'changes'>,
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const kept = new Map<Key, { readonly at: number; readonly value: Promise<Value> }>()
  return (key) => {
    const at = changes() // before the read: what is written meanwhile makes the answer an old one
    const known = kept.get(key)
    if (known !== undefined && known.at === at) return known.value
    if (at === undefined) return read(key)
    kept.delete(key)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest)
    const value = read(key)
    kept.set(key, { at, value })
    value.catch(() => kept.delete(key)) // a failure is not an answer
    return value
  }
}

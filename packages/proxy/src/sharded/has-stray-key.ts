import { hashSlot } from '@fairlead/engine'
import { readWords, walkWords } from './read-words.ts'

/**
 * True if a MSETEX has keys of several slots. Valkey 9.1 executes it without a check, and stores a key of
 * another group where it is never found; for other commands engines answer CROSSSLOT. `request` is complete.
 */
export function hasStrayKey(request: Buffer): boolean {
  const [, count, first] = readWords(request, 3)
  if (first === undefined) return false
  const slot = hashSlot(first)
  const end = 2 + 2 * Number(count?.toString('latin1'))
  let isStray = false
  walkWords(request, (n, from, to) => {
    if (n >= 2 && n % 2 === 0 && n < end) isStray = hashSlot(request.subarray(from, to)) !== slot
    return isStray || !(n < end)
  })
  return isStray
}

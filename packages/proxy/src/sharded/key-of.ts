import { type CommandRules, findFirstKey } from './command-rules.ts'
import type { Request } from './send-request.ts'

/** Returns the first key, null if none, or `more` if it may not have arrived. `words`: the first two. */
export function keyOf(
  { known, other }: CommandRules,
  { name, bytes, isWhole }: Request,
  words: readonly Buffer[],
) {
  const rule = known.get(name) ?? other
  if (rule.index === 1) return words[1] ?? (isWhole ? null : 'more')
  return findFirstKey(rule, bytes, isWhole)
}

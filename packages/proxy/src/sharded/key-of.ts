import { type CommandRules, findFirstKey } from './command-rules.ts'
import type { Request } from './send-request.ts'

/** The first key of a request, whose first two words are `words`; null if it has none. `more`: it may be among words that have not arrived yet. */
export function keyOf(
  { known, other }: CommandRules,
  { name, bytes, isWhole }: Request,
  words: readonly Buffer[],
) {
  const rule = known.get(name) ?? other
  if (rule.index === 1) return words[1] ?? (isWhole ? null : 'more')
  return findFirstKey(rule, bytes, isWhole)
}

import { hashSlot } from '@fairlead/engine'

/**
 * Whether a command has keys of several slots that no engine would refuse: valkey 9.1 carries MSETEX out without a look at
 * slots, and a key of another group is written where nobody finds it. Of all others engines say CROSSSLOT themselves.
 * `words` are all of its words.
 */
export function hasStrayKey(words: readonly Buffer[]): boolean {
  const [name, count, first] = words
  if (first === undefined || name?.toString('latin1').toUpperCase() !== 'MSETEX') return false
  const slot = hashSlot(first)
  const end = 2 + 2 * Number(count?.toString('latin1'))
  return words.some((word, n) => n >= 2 && n < end && n % 2 === 0 && hashSlot(word) !== slot)
}

import { Type } from 'typebox'

const noes = ['false', 'False', '0'] as const
const words = ['', 'true', 'True', '1', ...noes] as const

/** A flag of a query: the name alone means yes, and so do the words of several programming languages. */
export function flag(description: string) {
  return Type.Optional(Type.Enum([...words], { description }))
}

/** Returns whether a flag is set. */
export function isSet(word: (typeof words)[number] | undefined): boolean {
  return word !== undefined && !(noes as readonly string[]).includes(word)
}

import { Type } from 'typebox'

const noes = ['false', 'False', '0'] as const
const words = ['', 'true', 'True', '1', ...noes] as const

/** A flag of a query: its name alone is a yes, and so are the words that programs of several languages have for it. */
export function flag(description: string) {
  return Type.Optional(Type.Enum([...words], { description }))
}

/** Whether a flag is set. */
export function isSet(word: (typeof words)[number] | undefined): boolean {
  return word !== undefined && !(noes as readonly string[]).includes(word)
}

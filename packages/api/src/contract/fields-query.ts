import { Type } from 'typebox'

const noes = ['false', 'False', '0'] as const
const words = ['', 'true', 'True', '1', ...noes] as const

/** For an operation that `selects`: top-level fields of the answer, or of its entries. */
export const selectQuery = {
  fields: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'Only these fields, separated by commas; all when absent or empty. A name that the answer does not have is left out of it',
    }),
  ),
}

/** The same, with `extended` that programs of the wider API send. */
export const fieldsQuery = {
  ...selectQuery,
  extended: flag('Of the wider API: further fields of modules. There are none here, so it changes nothing'),
}

/** A flag of a query: the name alone means yes, and so do the words of several programming languages. */
export function flag(description: string) {
  return Type.Optional(Type.Enum([...words], { description }))
}

/** Returns whether a flag is set. */
export function isSet(word: (typeof words)[number] | undefined): boolean {
  return word !== undefined && !(noes as readonly string[]).includes(word)
}

import { Type } from 'typebox'
import { flag } from './flag.ts'

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

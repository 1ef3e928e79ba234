import { Type } from 'typebox'
import { flag } from './flag.ts'

/** Of an operation that `selects`: which top-level fields its answer, or each entry of it, has. */
export const selectQuery = {
  fields: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'Only these fields, separated by commas; all when absent or empty. A name that the answer does not have is left out of it',
    }),
  ),
}

/** The same, where programs of the wider API send `extended` besides. */
export const fieldsQuery = {
  ...selectQuery,
  extended: flag('Of the wider API: further fields of modules. There are none here, so it changes nothing'),
}

import { Type } from 'typebox'
import { flag } from './flag.ts'

/** Of an operation that `selects`: which top-level fields its answer has. */
export const fieldsQuery = {
  fields: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'Only these fields, separated by commas; all when absent or empty. A name that the answer does not have is left out of it',
    }),
  ),
  extended: flag('Of the wider API: further fields of modules. There are none here, so it changes nothing'),
}

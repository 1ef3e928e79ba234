import { type Static, Type } from 'typebox'
import { type ErrorCode, errors } from './errors.ts'

/** An obstacle of a request in answers. */
export const ErrorObstacle = Type.Object({
  error_code: Type.Enum(Object.keys(errors) as ErrorCode[]), // the keys of a table
  message: Type.String({
    description: 'What is in the way, and how to remove it. It may change with any version',
  }),
  field: Type.Union([Type.String(), Type.Null()], {
    description:
      'The field of the request that it is about, with dots or brackets; null: none, or not one alone',
  }),
})
export type ErrorObstacle = Static<typeof ErrorObstacle>

import { Ajv } from 'ajv'
import { describeFaults } from './describe-faults.ts'
import { describeUnfit } from './describe-unfit.ts'

/**
 * Bodies are taken as they are: no coercion, and no field is dropped silently (Fastify's own compiler does both). Paths and
 * queries are text, so numbers in them are read from it.
 */
const strict = new Ajv({
  verbose: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
})
const textual = new Ajv({
  verbose: true,
  allErrors: true,
  coerceTypes: true,
  removeAdditional: false,
  useDefaults: true,
})

/** Compiles one schema of an operation. A fault becomes an error that names every wrong field and the fix. */
export function compileValidator({ schema, httpPart }: { schema: object; httpPart?: string }) {
  const validate = (httpPart === 'body' ? strict : textual).compile(schema)
  const takesNothing = httpPart === 'querystring' && !hasFields(schema)
  return (value: unknown) => {
    // Nearly every request to an operation without a query has none: to look is cheaper than to validate.
    if (takesNothing && Object.keys(value as object).length === 0) return { value }
    if (!validate(value)) return { error: new InvalidInput(describeFaults(validate.errors ?? [], httpPart)) }
    const unfit = describeUnfit(value)
    return unfit.length === 0 ? { value } : { error: new InvalidInput(unfit) }
  }
}

function hasFields(schema: { readonly properties?: object }): boolean {
  return Object.keys(schema.properties ?? {}).length > 0
}

/** The input does not have the shape the contract asks for. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput'

  constructor(faults: readonly string[]) {
    super(faults.join('; '))
  }
}

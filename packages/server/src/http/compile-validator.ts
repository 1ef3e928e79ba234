import { Ajv } from 'ajv'
import { describeFaults, type Fault, firstOf } from './describe-faults.ts'
import { describeUnfit } from './describe-unfit.ts'
import { dropNulls } from './input/drop-nulls.ts'
import { fieldsWithoutDigits } from './input/whole-numbers.ts'

/**
 * Bodies are not converted: no coercion, no dropped fields (Fastify's compiler does both), and no defaults,
 * which could contradict the other of two names. Paths and queries are text, so numbers are parsed.
 */
const strict = new Ajv({ verbose: true, allErrors: true, coerceTypes: false, removeAdditional: false })
const textual = new Ajv({
  verbose: true,
  allErrors: true,
  coerceTypes: true,
  removeAdditional: false,
  useDefaults: true,
})

/** Compiles an operation's schema. Invalid input throws an error with every wrong field and the fix. */
export function compileValidator({ schema, httpPart }: { schema: object; httpPart?: string }) {
  const isBody = httpPart === 'body'
  const validate = (isBody ? strict : textual).compile(schema)
  const mayBeEmpty = httpPart === 'querystring' && !asksForFields(schema)
  return (value: unknown) => {
    // Most requests have no query: checking that is cheaper than validation.
    if (mayBeEmpty && Object.keys(value as object).length === 0) return { value }
    const noDigits = isBody ? [] : fieldsWithoutDigits(schema, value)
    if (isBody) dropNulls(schema, value)
    if (!validate(value) || noDigits.length > 0) {
      const others = (validate.errors ?? []).filter(
        ({ instancePath }) => !noDigits.includes(instancePath.slice(1)),
      )
      const strange = noDigits.map((name) => ({
        field: name,
        message: `${name}: must be an integer, written in digits`,
      }))
      return { error: new InvalidInput([...strange, ...describeFaults(others, httpPart)]) }
    }
    const unfit = describeUnfit(value)
    return unfit.length === 0 ? { value } : { error: new InvalidInput(unfit) }
  }
}

/** Returns whether the schema has required fields or defaults. */
function asksForFields(schema: {
  readonly properties?: object
  readonly required?: readonly string[]
}): boolean {
  const { properties = {}, required = [] } = schema
  return required.length > 0 || Object.values(properties).some((field: object) => 'default' in field)
}

/** The input violates the contract. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput'
  /** The first faults. */
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    const first = firstOf(faults)
    const more = faults.length > first.length ? ['and more'] : []
    super([...first.map(({ message }) => message), ...more].join('; '))
    this.faults = first
  }
}

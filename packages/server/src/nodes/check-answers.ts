import { ApiError, type Client, errors, type Operation } from '@fairlead/api'
import { Ajv, type ValidateFunction } from 'ajv'

/** Answers are not converted. Those of a newer process may have more fields. */
const ajv = new Ajv({ coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: false })

/** Compiled once per operation: a handover waits for some of these answers. */
const compiled = new Map<Operation, ValidateFunction>()

/**
 * Returns the same client for a process that may be compromised. If an answer lacks the shape of the
 * contract, or an error is not in the contract, throws the result of `unfit`.
 */
export function checkAnswers<Operations extends Readonly<Record<string, Operation>>>(
  operations: Operations,
  client: Client<Operations>,
  unfit: (cause: Error) => Error,
): Client<Operations> {
  const checked = Object.entries(operations).map(([name, operation]) => {
    const isFit = checkOf(operation)
    const call = client[name] as (...input: readonly unknown[]) => Promise<unknown>
    const ask = async (...input: readonly unknown[]): Promise<unknown> => {
      try {
        const answer = await call(...input)
        if (isFit(answer)) return answer
      } catch (cause) {
        if (!isUnreadable(cause)) throw cause
      }
      throw unfit(new Error(`its answer to ${operation.method} ${operation.path} is not valid`))
    }
    return [name, ask]
  })
  // Each function has the signature of the one with the same name.
  return Object.fromEntries(checked) as unknown as Client<Operations>
}

function checkOf(operation: Operation): ValidateFunction {
  const known = compiled.get(operation)
  if (known !== undefined) return known
  const made = ajv.compile(operation.ok)
  compiled.set(operation, made)
  return made
}

/** Returns whether the answer is no JSON, or an unknown error. */
function isUnreadable(cause: unknown): boolean {
  if (cause instanceof ApiError) return cause.isForeign || !Object.hasOwn(errors, cause.code)
  return cause instanceof SyntaxError
}

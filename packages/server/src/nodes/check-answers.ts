import { ApiError, type Client, errors, type Operation } from '@fairlead/api'
import { Ajv, type ValidateFunction } from 'ajv'

/** Answers are not converted; newer processes may add fields. */
const ajv = new Ajv({ coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: false })

/** Compiled once, because a handover waits for some of these answers. */
const compiled = new Map<Operation, ValidateFunction>()

/**
 * Returns the same client for a process that may be compromised. Throws the result of `unfit` for an answer
 * or error outside of the contract.
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
  // Each function keeps its signature.
  return Object.fromEntries(checked) as unknown as Client<Operations>
}

function checkOf(operation: Operation): ValidateFunction {
  const known = compiled.get(operation)
  if (known !== undefined) return known
  const made = ajv.compile(operation.ok)
  compiled.set(operation, made)
  return made
}

/** Returns whether it is no JSON, or an unknown error. */
function isUnreadable(cause: unknown): boolean {
  if (cause instanceof ApiError) return cause.isForeign || !Object.hasOwn(errors, cause.code)
  return cause instanceof SyntaxError
}

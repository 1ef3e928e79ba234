import { ApiError, type Client, errors, type Operation } from '@fairlead/api'
import { Ajv, type ValidateFunction } from 'ajv'

/** Answers are taken as they are, and those of a newer process may have more fields. */
const ajv = new Ajv({ coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: false })

/** Of operations, compiled once: a handover waits for some of these answers. */
const compiled = new Map<Operation, ValidateFunction>()

/**
 * The same client, for a process that may have been taken over: an answer without the shape that the contract gives it, or an error that no
 * contract has, is no answer. Then what `unfit` makes of the fault is thrown.
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
  // Each function takes and answers what the one of the same name does.
  return Object.fromEntries(checked) as unknown as Client<Operations>
}

function checkOf(operation: Operation): ValidateFunction {
  const known = compiled.get(operation)
  if (known !== undefined) return known
  const made = ajv.compile(operation.ok)
  compiled.set(operation, made)
  return made
}

/** It is no JSON, or an error that is none of ours. */
function isUnreadable(cause: unknown): boolean {
  if (cause instanceof ApiError) return cause.isForeign || !Object.hasOwn(errors, cause.code)
  return cause instanceof SyntaxError
}

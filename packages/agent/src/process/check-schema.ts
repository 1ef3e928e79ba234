import { Ajv, type ErrorObject } from 'ajv'
import type { Static, TSchema } from 'typebox'

/** Bodies and files are accepted unchanged: nothing is coerced, no unknown key is dropped. */
const strict = new Ajv({ coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false })
/** Values in a path are text, and are coerced to the type of the schema. */
const fromPath = new Ajv({ coerceTypes: true, removeAdditional: false, useDefaults: false, allErrors: false })

/** Returns Ajv's compiled check of `schema`, for Fastify. `part` names the part of the request. */
export function compileSchema<T = unknown>(schema: object, part: string | undefined) {
  return (part === 'body' ? strict : fromPath).compile<T>(schema)
}

/** Reads JSON text by `schema`, after `revive` (as in JSON.parse). Throws one line with the fault. */
export function parseAs<Schema extends TSchema>(
  schema: Schema,
  text: string,
  revive?: (key: string, value: unknown) => unknown,
): Static<Schema> {
  const value: unknown = JSON.parse(text, revive)
  const check = strict.compile<Static<Schema>>(schema)
  if (check(value)) return value
  throw new Error(describeFault(check.errors?.[0]))
}

/** "port must be integer", "unknown field: prot". */
export function describeFault(fault: Partial<ErrorObject> | undefined): string {
  if (fault === undefined) return 'not valid'
  if (fault.keyword === 'additionalProperties')
    return `unknown field: ${String(fault.params?.['additionalProperty'])}`
  const field = fault.instancePath?.replace(/^\//, '').replaceAll('/', '.') ?? ''
  const allowed: unknown = fault.params?.['allowedValues']
  const hint = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : ''
  return `${field} ${fault.message ?? 'is not valid'}${hint}`.trim()
}

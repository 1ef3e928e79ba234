import { isDeepStrictEqual } from 'node:util'
import { type NeutralField, Refusal, type RequestObstacle } from '@fairlead/api'

/**
 * Removes fields that ask for the default from a body. Throws Refusal field_not_available with a sentence for
 * each other value.
 */
export function takeNeutral(fields: readonly NeutralField[], body: unknown): void {
  const refused = fields.flatMap((field) => refusalOf(field, body))
  if (refused.length === 0) return
  const message = refused.map((one) => one.message).join('; ')
  throw new Refusal('field_not_available', message, { obstacles: refused })
}

function refusalOf({ name, taken, offered, own }: NeutralField, body: unknown): readonly RequestObstacle[] {
  const steps = name.split('.')
  const last = steps.pop() ?? ''
  const place = steps.reduce(part, body)
  const value = part(place, last)
  if (value === undefined) return []
  if (value === null || taken.some((one) => isDeepStrictEqual(value, one))) {
    delete (place as Record<string, unknown>)[last] // `part` found it
    return []
  }
  if (own === true) return []
  const values = taken.map((one) => JSON.stringify(one)).join(' or ')
  const message = `${name}: can only be ${values}, or left out; ${offered}`
  return [{ code: 'field_not_available', message, field: name }]
}

/** Not `value[name]`, since every object has a `constructor`. */
function part(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? (value as Record<string, unknown>)[name] : undefined
}

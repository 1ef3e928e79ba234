import { Ajv } from 'ajv'
import { describeFaults, type Fault, firstOf } from './describe-faults.ts'

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

/** The deepest valid body has five levels. Each is a call; the stack allows some thousands. */
const MOST_LEVELS = 64

/**
 * Finds faults that no schema finds: NUL, which PostgreSQL cannot store; half surrogate pairs ("\ud800" in
 * JSON), which UTF-8 lacks; infinite numbers from text ("1e999"), which the validator does not compare with
 * bounds; and too many levels where any value is valid.
 */
function describeUnfit(value: unknown, field = '', level = 0): readonly Fault[] {
  if (typeof value === 'string') return describeText(value, field)
  if (typeof value === 'number')
    return Number.isFinite(value) ? [] : [faultOf(field, 'must be a finite number')]
  if (typeof value !== 'object' || value === null) return []
  if (level === MOST_LEVELS)
    return [faultOf(field.split('.')[0] ?? '', `must not have more than ${MOST_LEVELS} levels`)]
  return Object.entries(value).flatMap(([name, part]) => {
    const place = field === '' ? name : `${field}.${name}`
    return [...describeUnfit(name, 'the name of a field'), ...describeUnfit(part, place, level + 1)]
  })
}

function describeText(text: string, field: string): readonly Fault[] {
  if (text.includes('\0')) return [faultOf(field, 'must not have the character NUL (U+0000)')]
  if (!text.isWellFormed())
    return [faultOf(field, 'must not have half of a surrogate pair, which is not a character')]
  return []
}

function faultOf(field: string, what: string): Fault {
  return field === ''
    ? { field: undefined, message: `the value: ${what}` }
    : { field, message: `${field}: ${what}` }
}

/** The needed part of a JSON schema. */
interface Schema {
  readonly type?: unknown
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/**
 * Removes null from optional fields of a body, at any depth: many programs send null for unset fields. Keeps
 * fields that are required or may be null. Changes `body`.
 */
function dropNulls(schema: Schema, body: unknown): void {
  if (Array.isArray(body)) {
    for (const item of body) if (schema.items !== undefined) dropNulls(schema.items, item)
    return
  }
  if (typeof body !== 'object' || body === null) return
  const fields = body as Record<string, unknown>
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    // Not `name in fields`, since every object has a `constructor`.
    if (!Object.hasOwn(fields, name)) continue
    if (fields[name] !== null) dropNulls(part, fields[name])
    else if (schema.required?.includes(name) !== true && !admitsNull(part)) delete fields[name]
  }
}

function admitsNull({ type, const: only, anyOf = [] }: Schema): boolean {
  return type === 'null' || only === null || anyOf.some(admitsNull)
}

/**
 * Returns integer fields of a path or query without plain digits: the validator also accepts "4.0", "0x4" and
 * "4e0" as database 4.
 */
function fieldsWithoutDigits(schema: Schema, values: unknown): readonly string[] {
  const texts = values as Readonly<Record<string, unknown>>
  return Object.entries(schema.properties ?? {})
    .filter(([name, { type }]) => {
      const value = texts[name]
      return type === 'integer' && typeof value === 'string' && !/^-?\d+$/.test(value)
    })
    .map(([name]) => name)
}

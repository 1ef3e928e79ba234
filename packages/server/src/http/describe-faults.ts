import type { ErrorObject } from 'ajv'

/** A fault of an input. `field` is dotted; undefined: the whole input. */
export interface Fault {
  readonly field: string | undefined
  readonly message: string
}

/**
 * Describes each fault in one sentence, without duplicates: the field, its valid values, and its purpose from
 * the contract (`description` of its schema). The validator must be `verbose`.
 */
export function describeFaults(
  faults: readonly ErrorObject[],
  httpPart: string | undefined,
): readonly Fault[] {
  const first = faults.slice(0, MOST_FAULTS)
  const choices = first.filter(isChoice)
  const described = first
    .filter((fault) => !choices.some((choice) => fault !== choice && isPartOf(fault, choice)))
    .map((fault) => ({ field: fieldOf(fault), message: describe(fault, httpPart) }))
  return [...new Map(described.map((fault) => [fault.message, fault])).values()]
}

/** Limits the faults: a body of 256 KB can have 100,000, too many for a person. */
export function firstOf(faults: readonly Fault[]): readonly Fault[] {
  return faults.slice(0, MOST_SENTENCES)
}

/**
 * Each is compared with the others: unlimited, a body of 256 KB would block the server for many seconds,
 * without login.
 */
const MOST_FAULTS = 200
const MOST_SENTENCES = 20
const LONGEST_NAME = 100

interface Choice {
  readonly type?: unknown
  readonly items?: { readonly type?: unknown }
  readonly const?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** Returns whether the schema is a choice of simple types, like a number or a list of texts. */
function isChoice({ keyword, schema }: ErrorObject): boolean {
  const simple = ({ const: word, type, items }: Choice): boolean =>
    word !== undefined ||
    /^(integer|number|string|null)$/.test(String(type)) ||
    (type === 'array' && items !== undefined && simple(items))
  return keyword === 'anyOf' && Array.isArray(schema) && (schema as readonly Choice[]).every(simple)
}

/** Faults of the alternatives are replaced by one sentence about the choice. */
function isPartOf(fault: ErrorObject, choice: ErrorObject): boolean {
  return (
    fault.instancePath.startsWith(choice.instancePath) && fault.schemaPath.startsWith(`${choice.schemaPath}/`)
  )
}

function describe(fault: ErrorObject, httpPart: string | undefined): string {
  const { instancePath, keyword, params, message } = fault
  const field = instancePath.slice(1).replaceAll('/', '.')
  const where = field === '' ? whole(httpPart) : field
  switch (keyword) {
    case 'additionalProperties':
      return `${within(field, params['additionalProperty'])}: is not a field of ${whole(httpPart)}`
    case 'required':
      return `${within(field, params['missingProperty'])}: is missing`
    case 'enum':
      return `${where}: must be one of ${(params['allowedValues'] as readonly unknown[]).filter((word) => word !== '').join(', ')}`
    case 'type':
      return `${where}: must be ${article(String(params['type']))}${inBrackets(purposeOf(fault))}`
    case 'const':
      return `${where}: can only be ${JSON.stringify(params['allowedValue'])}${inBrackets(purposeOf(fault))}`
    case 'minItems':
    case 'maxItems':
    case 'minLength':
    case 'maxLength':
      return `${where}: must have ${sizeOf(keyword, Number(params['limit']))}${inBrackets(purposeOf(fault))}`
    case 'uniqueItems':
      return `${where}: must not have the same element twice`
    case 'pattern':
      return `${where}: must be ${formOf(fault)}`
    case 'anyOf':
      return isChoice(fault)
        ? `${where}: must be ${(fault.schema as readonly Choice[]).map(nameChoice).join(' or ')}${inBrackets(purposeOf(fault))}`
        : `${where}: ${message ?? 'is wrong'}`
    default:
      return `${where}: ${message ?? 'is wrong'}${inBrackets(purposeOf(fault))}`
  }
}

/** The faulty field; for missing and unknown fields, their own name. */
function fieldOf({ instancePath, keyword, params }: ErrorObject): string | undefined {
  const field = instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'additionalProperties') return within(field, params['additionalProperty'])
  if (keyword === 'required') return within(field, params['missingProperty'])
  return field === '' ? undefined : field
}

function nameChoice({ type, items, const: word, minimum, maximum }: Choice): string {
  if (items !== undefined) return `an array of ${String(items.type)}s`
  if (word !== undefined) return JSON.stringify(word)
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`
  return `${article(String(type))}${range}`
}

function sizeOf(keyword: string, limit: number): string {
  const things = keyword.endsWith('Items') ? 'element' : 'character'
  return `${keyword.startsWith('min') ? 'at least' : 'at most'} ${limit} ${things}${limit === 1 ? '' : 's'}`
}

function formOf(fault: ErrorObject): string {
  const { description } = contractOf(fault)
  return description === undefined
    ? `as this pattern says: ${fault.params['pattern']}`
    : `of this form: ${description}`
}

/** The first sentence of the contract's description, which names the unit. */
function purposeOf(fault: ErrorObject): string {
  return contractOf(fault).description?.split(/[.;] /)[0] ?? ''
}

function contractOf({ parentSchema }: ErrorObject): { readonly description?: string } {
  const { description } = (parentSchema ?? {}) as { readonly description?: unknown }
  return typeof description === 'string' ? { description } : {}
}

function inBrackets(words: string): string {
  return words === '' ? '' : ` (${words})`
}

function within(field: string, name: unknown): string {
  const text = String(name)
  const short = text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
  return field === '' ? short : `${field}.${short}`
}

function whole(httpPart: string | undefined): string {
  if (httpPart === 'params') return 'the path'
  return httpPart === 'querystring' ? 'the query' : 'the body'
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

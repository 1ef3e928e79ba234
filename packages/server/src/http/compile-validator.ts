import { Ajv, type ErrorObject } from 'ajv'

/**
 * Bodies are taken as they are: no coercion, nothing dropped in silence (Fastify's own compiler does both). Paths and
 * queries are text, so numbers in them are read from it.
 */
const strict = new Ajv({ allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: true })
const textual = new Ajv({ allErrors: true, coerceTypes: true, removeAdditional: false, useDefaults: true })

/** Compiles one schema of an operation. A fault becomes an error that names every wrong field and the fix. */
export function compileValidator({ schema, httpPart }: { schema: object; httpPart?: string }) {
  const validate = (httpPart === 'body' ? strict : textual).compile(schema)
  const takesNothing = httpPart === 'querystring' && !hasFields(schema)
  return (value: unknown) => {
    // Nearly every request has no query where none is taken: looking is cheaper than validating.
    if (takesNothing && Object.keys(value as object).length === 0) return { value }
    if (validate(value)) return { value }
    return {
      error: new InvalidInput(
        (validate.errors ?? []).map((fault) => describe(fault, httpPart)).filter(isFirst),
      ),
    }
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

function describe(
  { instancePath, keyword, params, message }: ErrorObject,
  httpPart: string | undefined,
): string {
  const field = instancePath.slice(1).replaceAll('/', '.')
  const where = field === '' ? whole(httpPart) : field
  switch (keyword) {
    case 'additionalProperties':
      return `${within(field, params['additionalProperty'])}: is not a field of ${whole(httpPart)}`
    case 'required':
      return `${within(field, params['missingProperty'])}: is missing`
    case 'enum':
      return `${where}: must be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`
    case 'type':
      return `${where}: must be ${article(String(params['type']))}`
    case 'pattern':
      return `${where}: must match ${params['pattern']}`
    default:
      return `${where}: ${message ?? 'is wrong'}`
  }
}

function within(field: string, name: unknown): string {
  return field === '' ? String(name) : `${field}.${String(name)}`
}

function whole(httpPart: string | undefined): string {
  if (httpPart === 'params') return 'the path'
  return httpPart === 'querystring' ? 'the query' : 'the body'
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function isFirst(sentence: string, n: number, all: readonly string[]): boolean {
  return all.indexOf(sentence) === n
}

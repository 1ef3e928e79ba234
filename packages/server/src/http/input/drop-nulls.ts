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
export function dropNulls(schema: Schema, body: unknown): void {
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

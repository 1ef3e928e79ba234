/** A part of a JSON schema, as far as it matters here. */
interface Schema {
  readonly type?: unknown
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/**
 * Takes optional fields out of a body (at any depth) whose value is null: many programs send null for what they do not set. A field that must
 * be there, or may be null, is left as it is. Changes `body`.
 */
export function dropNulls(schema: Schema, body: unknown): void {
  if (Array.isArray(body)) {
    for (const item of body) if (schema.items !== undefined) dropNulls(schema.items, item)
    return
  }
  if (typeof body !== 'object' || body === null) return
  const fields = body as Record<string, unknown>
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    // Not `name in fields`: every object has a `constructor`.
    if (!Object.hasOwn(fields, name)) continue
    if (fields[name] !== null) dropNulls(part, fields[name])
    else if (schema.required?.includes(name) !== true && !admitsNull(part)) delete fields[name]
  }
}

function admitsNull({ type, const: only, anyOf = [] }: Schema): boolean {
  return type === 'null' || only === null || anyOf.some(admitsNull)
}

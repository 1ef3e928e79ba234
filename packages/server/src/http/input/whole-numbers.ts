/** A part of a JSON schema, as far as it matters here. */
interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/**
 * What is wrong with whole numbers in a path or a query, one sentence for each: they are digits. The validator would also read "4.0", "0x4" and "4e0"
 * as the number of database 4.
 */
export function describeNoDigits(schema: Schema, values: unknown): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, { type }]) => {
    const value = (values as Readonly<Record<string, unknown>>)[name]
    if (type !== 'integer' || typeof value !== 'string' || /^-?\d+$/.test(value)) return []
    return [`${name}: must be an integer, written in digits`]
  })
}

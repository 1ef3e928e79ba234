/** A part of a JSON schema, as far as it matters here. */
interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/**
 * The fields of a path or a query that have to be whole numbers, and are not written in digits. The validator would also read "4.0", "0x4" and
 * "4e0" as the number of database 4.
 */
export function fieldsWithoutDigits(schema: Schema, values: unknown): readonly string[] {
  const texts = values as Readonly<Record<string, unknown>>
  return Object.entries(schema.properties ?? {})
    .filter(([name, { type }]) => {
      const value = texts[name]
      return type === 'integer' && typeof value === 'string' && !/^-?\d+$/.test(value)
    })
    .map(([name]) => name)
}

/** The needed part of a JSON schema. */
interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/**
 * Returns integer fields of a path or query without plain digits: the validator also accepts "4.0", "0x4" and
 * "4e0" as database 4.
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

import { type TObject, type TObjectOptions, type TOptional, type TProperties, Type } from 'typebox'

/** Schema of an object that has no other fields than these. */
export function closed<Fields extends TProperties>(
  fields: Fields,
  options: TObjectOptions = {},
): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false, ...options })
}

/** The same fields, each of which may be absent. */
export function optional<Fields extends TProperties>(
  fields: Fields,
): { [Name in keyof Fields]: TOptional<Fields[Name]> } {
  // The type of an object from entries lacks the names.
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
    [Name in keyof Fields]: TOptional<Fields[Name]>
  }
}

import { Type } from 'typebox'

/** Schema of a field with a key of `table`, or null. */
export function keyOrNull<Key extends string>(table: Readonly<Record<Key, string>>, description: string) {
  // To the compiler, keys of a table are no tuple.
  return Type.Union([Type.Enum(Object.keys(table) as [Key, ...Key[]]), Type.Null()], { description })
}

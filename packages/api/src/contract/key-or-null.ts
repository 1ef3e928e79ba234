import { Type } from 'typebox'

/** The schema of a field of answers that holds a key of `table`, or null. */
export function keyOrNull<Key extends string>(table: Readonly<Record<Key, string>>, description: string) {
  // The keys of a table are no tuple to the compiler.
  return Type.Union([Type.Enum(Object.keys(table) as [Key, ...Key[]]), Type.Null()], { description })
}

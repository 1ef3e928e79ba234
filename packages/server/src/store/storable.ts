/**
 * Converts the `values` of a statement to a form that every store can keep. PostgreSQL fails on NUL, and
 * UTF-8 has no half surrogate pairs: both become U+FFFD, the replacement character. Texts of engines, modules
 * and machines may contain them; requests are refused earlier (compile-validator.ts).
 */
export function storable(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' ? storableText(value) : value))
}

/** Converts a text for storing. Hashes of stored texts are computed from this. */
export function storableText(text: string): string {
  const isKept = !text.includes('\0') && text.isWellFormed()
  return isKept ? text : text.replaceAll('\0', '\ufffd').toWellFormed()
}

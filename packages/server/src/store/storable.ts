/**
 * `values` of a statement as every store keeps them. PostgreSQL has no place for the character NUL in a text, and UTF-8 none for half a surrogate pair: with the one, the
 * statement would fail, and with it whatever it belongs to; the other would come back as another text. Each becomes U+FFFD, the sign for what cannot be shown.
 *
 * Requests with either are refused before (describe-unfit.ts). What is left are words of engines, modules and machines, which may be any.
 */
export function storable(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' ? storableText(value) : value))
}

/** A text as every store keeps it. What is computed from a text that is stored, as a hash, is computed from this. */
export function storableText(text: string): string {
  const isKept = !text.includes('\0') && text.isWellFormed()
  return isKept ? text : text.replaceAll('\0', '\ufffd').toWellFormed()
}

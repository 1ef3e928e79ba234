/**
 * The `values` of a statement as every store keeps them. PostgreSQL cannot store the character NUL: its statement, and the transaction around it, would fail. UTF-8
 * does not have half of a surrogate pair: the store would return another text. Both become U+FFFD, the replacement character.
 *
 * Requests with either are refused earlier (describe-unfit.ts). Here it is about texts of engines, modules and machines, which can contain anything.
 */
export function storable(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' ? storableText(value) : value))
}

/** A text as every store keeps it. A hash of a stored text is computed from this. */
export function storableText(text: string): string {
  const isKept = !text.includes('\0') && text.isWellFormed()
  return isKept ? text : text.replaceAll('\0', '\ufffd').toWellFormed()
}

/**
 * Splits a line of module arguments like engines split configuration lines: at spaces outside of quotes. Null
 * if a quote is not closed.
 */
export function splitArgs(line: string): readonly string[] | null {
  const words: string[] = []
  let rest = line.trim()
  while (rest !== '') {
    const match = WORD.exec(rest)
    if (match === null) return null
    const [whole, double, single, bare] = match
    words.push((double ?? single)?.replace(/\\(.)/g, '$1') ?? bare ?? '')
    rest = rest.slice(whole.length).trimStart()
  }
  return words
}

/** "…", '…' or a word without quotes, up to the next space. */
const WORD = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']+))(?=\s|$)/

/** Returns a line that splits into these words. */
export function joinArgs(words: readonly string[]): string {
  return words
    .map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`))
    .join(' ')
}

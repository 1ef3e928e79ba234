/**
 * The words of an inline command, as the engines split it: by white space, with "…" (and \n, \r, \t, \b, \a, \xHH in it)
 * and '…'. Null when quotes are not closed, or something follows a closing quote.
 */
export function splitInline(line: Buffer): readonly Buffer[] | null {
  const text = line.toString('latin1')
  const words: Buffer[] = []
  let at = 0
  for (;;) {
    while (at < text.length && isSpace(text[at])) at += 1
    if (at === text.length) return words
    const read = readWord(text, at)
    if (read === null) return null
    words.push(Buffer.from(read.word, 'latin1'))
    at = read.end
  }
}

interface Word {
  readonly word: string
  readonly end: number
}

function readWord(text: string, from: number): Word | null {
  let word = ''
  let at = from
  while (at < text.length && !isSpace(text[at])) {
    const quote = text[at]
    if (quote === '"' || quote === "'") {
      const quoted = readQuoted(text, at + 1, quote)
      const next = quoted === null ? undefined : text[quoted.end]
      if (quoted === null || (next !== undefined && !isSpace(next))) return null
      return { word: word + quoted.word, end: quoted.end }
    }
    word += quote
    at += 1
  }
  return { word, end: at }
}

/** `end` is behind the closing quote. */
function readQuoted(text: string, from: number, quote: string): Word | null {
  let word = ''
  let at = from
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === quote) return { word, end: at + 1 }
    if (char !== '\\') {
      word += char
      at += 1
      continue
    }
    const escaped = quote === '"' ? readEscape(text, at) : readQuoteEscape(text, at)
    word += escaped.word
    at = escaped.end
  }
  return null
}

function readEscape(text: string, at: number): Word {
  const hex = /^x([0-9a-fA-F]{2})/.exec(text.slice(at + 1, at + 4))?.[1]
  if (hex !== undefined) return { word: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 4 }
  const next = text.charAt(at + 1)
  return { word: escapes[next] ?? next, end: at + 2 }
}

function readQuoteEscape(text: string, at: number): Word {
  return text[at + 1] === "'" ? { word: "'", end: at + 2 } : { word: '\\', end: at + 1 }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

function isSpace(char: string | undefined): boolean {
  return char !== undefined && /[ \t\n\v\f\r]/.test(char)
}

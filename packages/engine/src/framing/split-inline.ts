/**
 * The words of an inline command, as the engines split it: by white space, with "…" (and \n, \r, \t, \b, \a, \xHH in it)
 * and '…'. No more than the first `most` of them are made, but all of the line is looked at, once: null when quotes are
 * not closed, or something follows a closing quote.
 */
export function splitInline(line: Buffer, most = Number.POSITIVE_INFINITY): readonly Buffer[] | null {
  const words: Buffer[] = []
  for (let from = beginOfWord(line, 0); from < line.length; ) {
    const end = endOfWord(line, from)
    if (end < 0) return null
    if (words.length < most) {
      const word = Buffer.allocUnsafe(end - from)
      const length = copyWord(line, from, end, word, 0)
      words.push(length < word.length ? word.subarray(0, length) : word)
    }
    from = beginOfWord(line, end)
  }
  return words
}

/** The same request as an array of bulk strings; null as above. It is written without a value for each word: a line may have 30,000. */
export function inlineAsArray(line: Buffer): Buffer | null {
  const longestHead = '$\r\n\r\n'.length + String(line.length).length
  let count = 0
  let bytes = longestHead
  for (let from = beginOfWord(line, 0); from < line.length; ) {
    const end = endOfWord(line, from)
    if (end < 0) return null
    count += 1
    bytes += end - from + longestHead
    from = beginOfWord(line, end)
  }
  const array = Buffer.allocUnsafe(bytes)
  let to = writeHead(array, 0, STAR, count)
  for (let from = beginOfWord(line, 0); from < line.length; ) {
    const end = endOfWord(line, from)
    // How long it is has to stand in front of it. Only here, and for the time of a call, it stands at the place of its head.
    const length = copyWord(line, from, end, array, to) - to
    to = copyWord(line, from, end, array, writeHead(array, to, DOLLAR, length))
    to = writeLineEnd(array, to)
    from = beginOfWord(line, end)
  }
  return array.subarray(0, to)
}

function beginOfWord(line: Buffer, from: number): number {
  let at = from
  while (at < line.length && isSpace(line[at])) at += 1
  return at
}

/** Behind the word that begins at `from`; -1 if its quotes are wrong. */
function endOfWord(line: Buffer, from: number): number {
  for (let at = from; at < line.length; at += 1) {
    const byte = line[at]
    if (byte === DOUBLE || byte === SINGLE) return endOfQuoted(line, at + 1, byte)
    if (endsWord(byte)) return at
  }
  return line.length
}

/** Behind the closing quote, with which the word has to end. */
function endOfQuoted(line: Buffer, from: number, quote: number): number {
  for (let at = from; at < line.length; at += 1) {
    const byte = line[at]
    if (byte === quote) return at + 1 === line.length || isSpace(line[at + 1]) ? at + 1 : -1
    if (byte === BACKSLASH && (quote === DOUBLE || line[at + 1] === SINGLE)) at += 1
  }
  return -1
}

/** Writes the word that stands at `from`..`end`, of which the quotes are right, to `to`. Returns the position behind it. */
function copyWord(line: Buffer, from: number, end: number, into: Buffer, to: number): number {
  let quote = 0
  let out = to
  for (let at = from; at < end; at += 1) {
    let byte = line[at] ?? 0
    if (quote === 0 && (byte === DOUBLE || byte === SINGLE)) {
      quote = byte
      continue
    }
    if (byte === quote) break
    if (byte === BACKSLASH && quote !== 0) {
      const next = line[at + 1] ?? 0
      const hex = quote === DOUBLE && next === X ? hexAt(line, at + 2) : -1
      if (hex >= 0) {
        byte = hex
        at += 3
      } else if (quote === DOUBLE || next === SINGLE) {
        byte = quote === DOUBLE ? (escapes.get(next) ?? next) : SINGLE
        at += 1
      }
    }
    into[out] = byte
    out += 1
  }
  return out
}

/** Two digits as a byte; -1 if they are none. */
function hexAt(line: Buffer, at: number): number {
  const [high, low] = [digitOf(line[at]), digitOf(line[at + 1])]
  return high < 0 || low < 0 ? -1 : 16 * high + low
}

function digitOf(byte = 0): number {
  if (byte >= ZERO && byte <= ZERO + 9) return byte - ZERO
  // Small letters are capitals with one bit more.
  const letter = byte & ~0x20
  return letter >= A && letter < A + 6 ? letter - A + 10 : -1
}

function writeHead(into: Buffer, at: number, type: number, value: number): number {
  into[at] = type
  return writeLineEnd(into, writeNumber(into, at + 1, value))
}

function writeNumber(into: Buffer, at: number, value: number): number {
  const end = value < 10 ? at : writeNumber(into, at, Math.floor(value / 10))
  into[end] = ZERO + (value % 10)
  return end + 1
}

function writeLineEnd(into: Buffer, at: number): number {
  into[at] = CR
  into[at + 1] = LF
  return at + 2
}

/** Of the white space two do not end a word that has begun: measured with redis 7.0 and 8.0, valkey 8.0 to 9.1. */
function endsWord(byte = 0): boolean {
  return isSpace(byte) && byte !== 0x0b && byte !== 0x0c
}

/** From the tab to the carriage return, and the blank. */
function isSpace(byte = 0): boolean {
  return byte === 0x20 || (byte <= 0x0d && byte >= 0x09)
}

const STAR = 0x2a
const DOLLAR = 0x24
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const A = 0x41
const X = 0x78
const DOUBLE = 0x22
const SINGLE = 0x27
const BACKSLASH = 0x5c
/** By the letter behind the backslash. */
const escapes: ReadonlyMap<number, number> = new Map(
  Array.from('nrtba', (letter, n) => [letter.charCodeAt(0), '\n\r\t\b\x07'.charCodeAt(n)]),
)

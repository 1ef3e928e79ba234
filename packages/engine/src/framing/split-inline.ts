/**
 * Splits an inline command into words like the engines: by white space, with "…" (containing \n, \r, \t, \b,
 * \a, \xHH) and '…'. Only the first `most` words are made, but the whole line is read once; null if quotes
 * are not closed. If engines differ, it follows the most tolerant (Valkey 9.1): others answer with an error,
 * and close.
 */
export function splitInline(line: Buffer, most = Number.POSITIVE_INFINITY): readonly Buffer[] | null {
  const words: Buffer[] = []
  // Only quotes can make a line invalid, and searching for them takes a hundredth of the time.
  const looksAtAll = line.includes(DOUBLE) || line.includes(SINGLE)
  for (let from = beginOfWord(line, 0); from < line.length; ) {
    if (words.length === most && !looksAtAll) break
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

/** Converts it to an array of bulk strings, or null, without a value per word: a line may have 30,000. */
export function inlineAsArray(line: Buffer): Buffer | null {
  // A word and its blank take at least two bytes, and seven as a bulk string: at most four times the line.
  const array = Buffer.allocUnsafe(LONGEST_HEAD + 4 * (line.length + 2))
  let count = 0
  let to = LONGEST_HEAD
  for (let from = beginOfWord(line, 0); from < line.length; ) {
    const end = endOfWord(line, from)
    if (end < 0) return null
    count += 1
    to = writeWord(line, from, end, array, to)
    from = beginOfWord(line, end)
  }
  const head = Buffer.from(`*${count}\r\n`)
  const begin = LONGEST_HEAD - head.length
  head.copy(array, begin)
  return array.subarray(begin, to)
}

const LONGEST_HEAD = '*1234567890\r\n'.length

/** Writes the word at `from`..`end` as a bulk string to `to`. Returns the position after it. */
function writeWord(line: Buffer, from: number, end: number, into: Buffer, to: number): number {
  const begin = writeHead(into, to, end - from)
  const length = copyWord(line, from, end, into, begin) - begin
  if (length === end - from) return writeLineEnd(into, begin + length)
  // Without its quotes it is shorter, and perhaps also its length.
  const first = writeHead(into, to, length)
  if (first < begin) into.copyWithin(first, begin, begin + length)
  return writeLineEnd(into, first + length)
}

/**
 * True if engines that accept the line find different words. Valkey 8.1 and 9.1 omit a byte 0xff (a signed
 * char); Valkey 9.1 continues the word if a vertical tab or a form feed follows a closing quote; Valkey 8.0
 * and 8.1 read the request after a blank line as lines, too.
 */
export function isReadDifferently(line: Buffer): boolean {
  if (line.includes(0xff)) return true
  if (line.includes(VERTICAL_TAB) || line.includes(FORM_FEED))
    for (let at = 1; at < line.length; at += 1)
      if (isRareSpace(line[at]) && isQuote(line[at - 1])) return true
  return line.length > 0 && beginOfWord(line, 0) === line.length
}

function beginOfWord(line: Buffer, from: number): number {
  let at = from
  while (at < line.length && isSpace(line[at])) at += 1
  return at
}

/** Returns the position after the word at `from`; -1 if its quotes are not closed. */
function endOfWord(line: Buffer, from: number): number {
  for (let at = from; at < line.length; at += 1) {
    const byte = line[at]
    const kind = kindOf(byte)
    if (kind === BLANK) return at
    if (kind !== QUOTE) continue
    at = closingQuote(line, at + 1, byte)
    if (at < 0) return -1
    if (isRareSpace(line[at + 1])) return at + 1
  }
  return line.length
}

function closingQuote(line: Buffer, from: number, quote = 0): number {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === quote) return at
    if (isEscape(line, at, quote)) at += 1
  }
  return -1
}

/** True if the backslash at `at` escapes the next byte. A quote at the end of the line always closes. */
function isEscape(line: Buffer, at: number, quote: number): boolean {
  if (line[at] !== BACKSLASH) return false
  const next = line[at + 1]
  if (quote === SINGLE) return next === SINGLE
  return quote === DOUBLE && next !== undefined && !(next === DOUBLE && at + 2 === line.length)
}

/** Writes the word at `from`..`end`, whose quotes are valid, to `to`. Returns the position after it. */
function copyWord(line: Buffer, from: number, end: number, into: Buffer, to: number): number {
  let quote = 0
  let out = to
  for (let at = from; at < end; at += 1) {
    let byte = line[at] ?? 0
    if (quote === 0) {
      if (kindOf(byte) === QUOTE) quote = byte
      else into[out++] = byte
      continue
    }
    if (byte === quote) {
      quote = 0
      continue
    }
    if (isEscape(line, at, quote)) {
      const next = line[at + 1] ?? 0
      const hex = quote === DOUBLE && next === X ? hexAt(line, at + 2) : -1
      byte = hex >= 0 ? hex : quote === DOUBLE ? (escapes.get(next) ?? next) : SINGLE
      at += hex >= 0 ? 3 : 1
    }
    into[out] = byte
    out += 1
  }
  return out
}

/** Returns two digits as a byte; -1 if invalid. */
function hexAt(line: Buffer, at: number): number {
  const [high, low] = [digitOf(line[at]), digitOf(line[at + 1])]
  return high < 0 || low < 0 ? -1 : 16 * high + low
}

function digitOf(byte = 0): number {
  if (byte >= ZERO && byte <= ZERO + 9) return byte - ZERO
  // Small letters are capitals with one more bit.
  const letter = byte & ~0x20
  return letter >= A && letter < A + 6 ? letter - A + 10 : -1
}

function writeHead(into: Buffer, at: number, length: number): number {
  into[at] = DOLLAR
  return writeLineEnd(into, writeNumber(into, at + 1, length))
}

function writeNumber(into: Buffer, at: number, value: number): number {
  const end = value < 10 ? at : writeNumber(into, at, (value / 10) | 0)
  into[end] = ZERO + (value % 10)
  return end + 1
}

function writeLineEnd(into: Buffer, at: number): number {
  into[at] = CR
  into[at + 1] = LF
  return at + 2
}

/** Meaning of each byte in a line: measured with Redis 7.0 and 8.0, Valkey 8.0 to 9.1. */
const kinds = new Uint8Array(256)
const PLAIN = 0
/** Tab to carriage return, and the blank, except the next two. */
const BLANK = 1
/** Vertical tab and form feed: they separate words, but do not end a word that has begun. */
const RARE_SPACE = 2
const QUOTE = 3

function kindOf(byte = 0): number {
  return kinds[byte] ?? PLAIN
}

function isRareSpace(byte = 0): boolean {
  return kindOf(byte) === RARE_SPACE
}

function isQuote(byte = 0): boolean {
  return kindOf(byte) === QUOTE
}

function isSpace(byte = 0): boolean {
  const kind = kindOf(byte)
  return kind === BLANK || kind === RARE_SPACE
}

const DOLLAR = 0x24
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const A = 0x41
const X = 0x78
const DOUBLE = 0x22
const SINGLE = 0x27
const BACKSLASH = 0x5c
const VERTICAL_TAB = 0x0b
const FORM_FEED = 0x0c
for (const byte of [0x09, LF, CR, 0x20]) kinds[byte] = BLANK
for (const byte of [VERTICAL_TAB, FORM_FEED]) kinds[byte] = RARE_SPACE
for (const byte of [DOUBLE, SINGLE]) kinds[byte] = QUOTE
/** Escapes by the letter after the backslash. */
const escapes: ReadonlyMap<number, number> = new Map(
  Array.from('nrtba', (letter, n) => [letter.charCodeAt(0), '\n\r\t\b\x07'.charCodeAt(n)]),
)

/** Returns up to `most` complete words of a request, an array of bulk strings that may be incomplete. */
export function readWords(request: Buffer, most: number): readonly Buffer[] {
  const words: Buffer[] = []
  let at = endOfLine(request, 0)
  while (words.length < most && at > 0 && at < request.length) {
    const begin = endOfLine(request, at)
    if (begin < 0) break
    const end = begin + numberAt(request, at + 1)
    if (end > request.length) break
    words.push(request.subarray(begin, end))
    at = end + 2
  }
  return words
}

/** Returns the number of words that the request announces. */
export function countWords(request: Buffer): number {
  return numberAt(request, 1)
}

/** Returns the word with this index; undefined if missing or incomplete. */
export function wordAt(request: Buffer, index: number): Buffer | undefined {
  let found: Buffer | undefined
  walkWords(request, (n, from, to) => {
    if (n === index) found = request.subarray(from, to)
    return n === index
  })
  return found
}

/**
 * Returns the index of the first of `keywords` (capitals, any case) from word `from`; -1 if none. A negative
 * `from` counts from the end of a complete request, and searches backwards. Examines at most
 * MOST_LOOKED_THROUGH words: no command has keywords later, and all words of a request (up to 170,000) would
 * take milliseconds.
 */
export function findWord(request: Buffer, keywords: readonly string[], from: number): number {
  const last = from < 0 ? countWords(request) + from : Number.POSITIVE_INFINITY
  const longest = Math.max(...keywords.map(({ length }) => length))
  let found = -1
  walkWords(request, (n, begin, end) => {
    if (n > last || n > MOST_LOOKED_THROUGH) return true
    if (n < from || begin === end || end - begin > longest) return false
    if (keywords.some((keyword) => isWord(request, begin, end, keyword))) found = n
    return found >= 0 && from >= 0
  })
  return found
}

const MOST_LOOKED_THROUGH = 32_768

/**
 * Calls `visit` with index and position of each complete word until it returns true. Creates no objects: a
 * megabyte may have 170,000 words.
 */
export function walkWords(request: Buffer, visit: (n: number, from: number, to: number) => boolean): void {
  let at = endOfLine(request, 0)
  for (let n = 0; at > 0 && at < request.length; n += 1) {
    const begin = endOfLine(request, at)
    if (begin < 0) return
    const end = begin + numberAt(request, at + 1)
    if (end > request.length || visit(n, begin, end)) return
    at = end + 2
  }
}

function isWord(request: Buffer, begin: number, end: number, keyword: string): boolean {
  if (end - begin !== keyword.length) return false
  for (let n = 0; n < keyword.length; n += 1) {
    const byte = request[begin + n] ?? 0
    if ((byte >= SMALL_A && byte <= SMALL_Z ? byte - 0x20 : byte) !== keyword.charCodeAt(n)) return false
  }
  return true
}

/** Returns the position after the line that begins at `from`; -1 if the line is incomplete. */
function endOfLine(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) if (bytes[at] === LF) return at + 1
  return -1
}

function numberAt(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO) return value
    value = value * 10 + byte - ZERO
  }
  return value
}

const LF = 0x0a
const ZERO = 0x30
const SMALL_A = 0x61
const SMALL_Z = 0x7a

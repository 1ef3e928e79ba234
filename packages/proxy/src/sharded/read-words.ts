/**
 * The first `most` words of a request, which is an array of bulk strings and valid as far as it has arrived. Only words
 * that are complete: there may be fewer if the request is not complete.
 */
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

/** The number of words that the request announces. */
export function countWords(request: Buffer): number {
  return numberAt(request, 1)
}

/** The word with this index; undefined if it is missing or incomplete. */
export function wordAt(request: Buffer, index: number): Buffer | undefined {
  let found: Buffer | undefined
  walkWords(request, (n, from, to) => {
    if (n === index) found = request.subarray(from, to)
    return n === index
  })
  return found
}

/**
 * The index of the first word from `from` on that is one of `keywords` (capitals), in any case; -1: none. A `from` below 0 is counted from
 * the end of a request that is whole: then of the last one up to there. Only the first MOST_LOOKED_THROUGH words are looked at: no command has
 * its keywords behind so many, and a request may have 170,000, which would take milliseconds.
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
 * Calls `visit` with the index and the place of each complete word, until it returns true. No object is made for a word: there may be
 * 170,000 of them in a megabyte.
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

/** The position after the line that begins at `from`; -1 if it does not end. */
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

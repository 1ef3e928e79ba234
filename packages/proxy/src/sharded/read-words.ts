/**
 * The first `most` words of a request, which is an array of bulk strings and well formed as far as it has come. Only words
 * that are whole: there are fewer when the request is not.
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

/** Behind the line that begins at `from`; -1 if it does not end. */
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

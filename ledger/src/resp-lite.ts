/**
 * A reply of an engine, of the kinds that the ledger gets: text is latin1, arrays are flat or nested, null is
 * `$-1` or `*-1`.
 */
export type Reply =
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'bulk'; readonly text: string | null }
  | { readonly kind: 'array'; readonly items: readonly Reply[] | null }

/** The bytes are no RESP2: the rest of the stream cannot be read. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** One command as RESP. The words must be latin1: their length is taken as their number of bytes. */
export function writeCommand(...words: readonly string[]): string {
  let text = `*${words.length}\r\n`
  for (const word of words) text += `$${word.length}\r\n${word}\r\n`
  return text
}

/** Reads replies from a stream that may be cut anywhere. */
export interface ReplyReader {
  /**
   * Passes each reply that is now complete to `onReply`. The chunk may be reused afterwards. Throws
   * ProtocolError.
   */
  feed(chunk: Buffer): void
}

export function createReplyReader(onReply: (reply: Reply) => void): ReplyReader {
  let rest: Buffer = nothing
  return {
    feed(chunk) {
      // Nearly every answer to a write is exactly this, so this shortcut saves processor time.
      if (rest.length === 0 && chunk.length === 5 && chunk.toString('latin1', 0, 5) === '+OK\r\n') {
        onReply(ok)
        return
      }
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (let found = readReply(bytes, at); found; found = readReply(bytes, at)) {
        at = found.next
        onReply(found.reply)
      }
      rest = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at))
    },
  }
}

const nothing = Buffer.alloc(0)
const ok: Reply = Object.freeze({ kind: 'status', text: 'OK' })

interface Found {
  readonly reply: Reply
  /** Where the next reply begins. */
  readonly next: number
}

/** Null when the reply is incomplete. */
function readReply(bytes: Buffer, at: number): Found | null {
  if (at === bytes.length) return null
  const mark = bytes[at]
  if (mark === undefined || !'+-:$*'.includes(String.fromCharCode(mark)))
    throw new ProtocolError(`a reply cannot begin with byte ${mark}`)
  const end = bytes.indexOf('\r\n', at, 'latin1')
  if (end === -1) return null
  const line = bytes.toString('latin1', at + 1, end)
  const next = end + 2
  switch (String.fromCharCode(mark)) {
    case '+':
      return { reply: { kind: 'status', text: line }, next }
    case '-':
      return { reply: { kind: 'error', text: line }, next }
    case ':':
      return { reply: { kind: 'integer', value: integer(line) }, next }
    case '$':
      return readBulk(bytes, next, integer(line))
    default:
      return readArray(bytes, next, integer(line))
  }
}

function readBulk(bytes: Buffer, at: number, length: number): Found | null {
  if (length === -1) return { reply: { kind: 'bulk', text: null }, next: at }
  if (length < 0) throw new ProtocolError(`a bulk string cannot have ${length} bytes`)
  const end = at + length
  if (bytes.length < end + 2) return null
  if (bytes[end] !== 13 || bytes[end + 1] !== 10)
    throw new ProtocolError('a bulk string does not end where it says')
  return { reply: { kind: 'bulk', text: bytes.toString('latin1', at, end) }, next: end + 2 }
}

function readArray(bytes: Buffer, at: number, length: number): Found | null {
  if (length === -1) return { reply: { kind: 'array', items: null }, next: at }
  if (length < 0) throw new ProtocolError(`an array cannot have ${length} items`)
  const items: Reply[] = []
  let next = at
  while (items.length < length) {
    const found = readReply(bytes, next)
    if (!found) return null
    items.push(found.reply)
    next = found.next
  }
  return { reply: { kind: 'array', items }, next }
}

function integer(text: string): number {
  if (!/^[+-]?\d{1,19}$/.test(text))
    throw new ProtocolError(`not a number: ${JSON.stringify(text.slice(0, 40))}`)
  return Number(text)
}

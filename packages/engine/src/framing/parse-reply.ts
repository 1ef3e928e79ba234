/** A reply as a value. Maps are lists of alternating keys and values; pushes and sets are lists. */
export type ParsedReply = string | number | null | ReplyError | readonly ParsedReply[]

export interface ReplyError {
  /** Text of the engine, without the type byte. */
  readonly error: string
}

/**
 * Parses the complete reply at 0 (RESP2 or RESP3), without attributes. Texts are latin1, so that no byte is
 * lost. Throws if the bytes are not a complete reply (find its end with `scanReply` first), or nested more
 * than 64 deep.
 */
export function parseReply(bytes: Buffer): ParsedReply {
  return readValue({ bytes, at: 0, depth: 0 })
}

/** True if the reply is an error of the engine. */
export function isReplyError(reply: ParsedReply): reply is ReplyError {
  return reply !== null && typeof reply === 'object' && 'error' in reply
}

interface Place {
  readonly bytes: Buffer
  at: number
  /** Nesting of the current values. */
  depth: number
}

/** Replies to Fairlead are nested less than ten deep. A hostile engine may nest them endlessly. */
const DEEPEST = 64

function readValue(place: Place): ParsedReply {
  if (place.depth > DEEPEST) throw new Error(`the reply is nested more than ${DEEPEST} deep`)
  place.depth += 1
  const value = readOne(place)
  place.depth -= 1
  return value
}

function readOne(place: Place): ParsedReply {
  const line = readLine(place)
  const rest = line.slice(1)
  switch (line.charAt(0)) {
    case '-':
      return { error: rest }
    case ':':
      return Number(rest)
    case '#':
      return rest === 't' ? 1 : 0
    case '_':
      return null
    case '$':
    case '=':
      return readBulk(place, Number(rest))
    case '!':
      return { error: readBulk(place, Number(rest)) ?? '' }
    case '*':
    case '~':
    case '>':
      return Number(rest) < 0 ? null : readValues(place, Number(rest))
    case '%':
      return readValues(place, 2 * Number(rest))
    case '|':
      readValues(place, 2 * Number(rest))
      return readValue(place)
    default:
      return rest
  }
}

function readValues(place: Place, count: number): readonly ParsedReply[] {
  const values: ParsedReply[] = []
  for (let n = 0; n < count; n += 1) values.push(readValue(place))
  return values
}

function readLine(place: Place): string {
  const end = place.bytes.indexOf('\r\n', place.at)
  if (end < 0) throw new Error('the reply is not whole')
  const line = place.bytes.toString('latin1', place.at, end)
  place.at = end + 2
  return line
}

function readBulk(place: Place, length: number): string | null {
  if (length < 0) return null
  const text = place.bytes.toString('latin1', place.at, place.at + length)
  place.at += length + 2
  return text
}

/** A reply as a value. Maps are lists of their keys and values in turn; pushes and sets are lists. */
export type ParsedReply = string | number | null | ReplyError | readonly ParsedReply[]

export interface ReplyError {
  /** The engine's words, without the sign in front. */
  readonly error: string
}

/**
 * Reads the whole reply that begins at 0 (RESP2 or RESP3); attributes are skipped. Texts are taken as latin1, so that no byte
 * is lost. Throws when the bytes are not a whole reply (find its end with `scanReply` first), or it is nested more than 64 deep.
 */
export function parseReply(bytes: Buffer): ParsedReply {
  return readValue({ bytes, at: 0, depth: 0 })
}

/** Whether the reply is an error of the engine. */
export function isReplyError(reply: ParsedReply): reply is ReplyError {
  return reply !== null && typeof reply === 'object' && 'error' in reply
}

interface Place {
  readonly bytes: Buffer
  at: number
  /** Of the values that are being read. */
  depth: number
}

/** Answers to what Fairlead asks are not nested ten deep. A hostile engine may nest them without an end. */
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

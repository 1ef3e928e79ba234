import { ARRAY, BULK, CR, ERROR, INTEGER, LF, PLUS } from './reply-bytes.ts'

/** Reply to a command, as a value; an error is an object with its text. */
export type PlainReply = string | number | null | { readonly error: string } | readonly PlainReply[]

/** COMMAND, the largest list that is requested, has 12,600 values (Redis 8.0), in lists of lists. */
export const MOST_VALUES = 100_000
/** Limit of nested lists, here and in an incomplete reply. */
export const DEEPEST = 64

/**
 * Parses the complete reply in `bytes` (RESP2, the default of engines); texts are UTF-8. Throws for an
 * invalid reply, more than 100,000 values, or lists more than 64 deep: an engine may send anything.
 */
export function parsePlainReply(bytes: Buffer): PlainReply {
  const place = { bytes, at: 0, values: 0 }
  const reply = readValue(place, 0)
  if (place.at !== bytes.length) throw new Error('a reply is followed by other bytes')
  return reply
}

interface Place {
  readonly bytes: Buffer
  at: number
  values: number
}

function readValue(place: Place, depth: number): PlainReply {
  place.values += 1
  if (place.values > MOST_VALUES) throw new Error(`a reply has more than ${MOST_VALUES} values`)
  const type = place.bytes[place.at] ?? 0
  place.at += 1
  switch (type) {
    case PLUS:
      return readLine(place)
    case ERROR:
      return { error: readLine(place) }
    case INTEGER:
      return readInteger(place)
    case BULK:
      return readBulk(place)
    case ARRAY:
      return readList(place, depth)
    default:
      throw new Error(`no reply begins with the byte ${type}`)
  }
}

function readList(place: Place, depth: number): readonly PlainReply[] | null {
  const count = readInteger(place)
  if (count < 0) return null
  if (depth === DEEPEST) throw new Error(`a reply is nested more than ${DEEPEST} deep`)
  const values: PlainReply[] = []
  for (let n = 0; n < count; n += 1) values.push(readValue(place, depth + 1))
  return values
}

function readBulk(place: Place): string | null {
  const length = readInteger(place)
  if (length < 0) return null
  const end = place.at + length
  if (place.bytes[end] !== CR || place.bytes[end + 1] !== LF) throw new Error('a text has another length')
  const text = place.bytes.toString('utf8', place.at, end)
  place.at = end + 2
  return text
}

/** Reads a number of a few digits without a string: in COMMAND, half of the lines are such numbers. */
function readInteger(place: Place): number {
  const { bytes } = place
  let at = place.at
  let number = 0
  for (let digit = digitAt(bytes, at); digit >= 0 && digit <= 9; digit = digitAt(bytes, at)) {
    number = number * 10 + digit
    at += 1
  }
  const digits = at - place.at
  if (digits === 0 || digits > EXACT_DIGITS || bytes[at] !== CR || bytes[at + 1] !== LF)
    return readOtherInteger(place)
  place.at = at + 2
  return number
}

/** Most digits of a number that is always exact. */
const EXACT_DIGITS = 15
const ZERO = 0x30

function digitAt(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 0) - ZERO
}

function readOtherInteger(place: Place): number {
  const line = readLine(place)
  if (!/^[-+]?\d{1,19}$/.test(line)) throw new Error('a number in a reply is invalid')
  return Number(line)
}

function readLine(place: Place): string {
  const { bytes } = place
  let end = bytes.indexOf(LF, place.at)
  // The CR must be in the same line.
  while (end === place.at || (end > 0 && bytes[end - 1] !== CR)) end = bytes.indexOf(LF, end + 1)
  if (end < 0) throw new Error('a line of a reply does not end')
  const line = bytes.toString('utf8', place.at, end - 1)
  place.at = end + 1
  return line
}

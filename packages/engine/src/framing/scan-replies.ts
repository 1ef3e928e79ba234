import {
  ARRAY,
  ATTRIBUTE,
  BIG_NUMBER,
  BOOLEAN,
  BULK,
  BULK_ERROR,
  CR,
  DOUBLE,
  ERROR,
  INTEGER,
  LF,
  MAP,
  MINUS,
  NINE,
  NULL,
  PLUS,
  PUSH,
  SET,
  VERBATIM,
  ZERO,
} from './reply-bytes.ts'
import { BODY, LINE, NUMBER, NUMBER_END, type ReplyScanner, START, TYPE } from './reply-scanner.ts'

/**
 * Engines nest a script's results up to 8,000 deep (measured, Redis 7.0 to Valkey 9.1), a module perhaps
 * deeper. Levels that end with their inner level do not count.
 */
const DEEPEST = 100_000
const LONGEST_TEXT = 256
const LONGEST_WORD = 16

/** True if no part of a further message was read. */
export function isBetweenReplies(scanner: ReplyScanner): boolean {
  return scanner.phase === START
}

/**
 * Continues at `from`. Returns the position after the first message that ends; -1 if none ends in `chunk`,
 * which is then read completely, or if `scanner.error` is set; RESTS after `mostLooks` values, then it has
 * read up to `restsAt`.
 */
export function scanReply(scanner: ReplyScanner, chunk: Buffer, from: number): number {
  const { length } = chunk
  let at = from
  while (at < length) {
    switch (scanner.phase) {
      case START:
        begin(scanner)
        break
      case TYPE:
        if (scanner.looks >= scanner.mostLooks && !scanner.fresh) return rest(scanner, at)
        takeType(scanner, chunk[at] ?? 0)
        at += 1
        break
      case LINE:
        at = readLine(scanner, chunk, at)
        if (isOver(scanner)) return at
        break
      case NUMBER:
        at = readNumber(scanner, chunk, at)
        break
      case NUMBER_END:
        if (chunk[at] !== LF) return fail(scanner, 'a length does not end with CRLF')
        at += 1
        takeNumber(scanner)
        if (isOver(scanner)) return at
        break
      case BODY: {
        const end = Math.min(length, at + scanner.bytesLeft)
        if (scanner.first) takeWord(scanner, chunk, at, end)
        scanner.bytesLeft -= end - at
        at = end
        if (scanner.bytesLeft > 0) return -1
        scanner.first = false
        endValue(scanner)
        if (isOver(scanner)) return at
        break
      }
    }
    if (scanner.error !== undefined) return -1
  }
  return -1
}

/** Returned by a scanner that has reached its limit of looks. */
export const RESTS = -2

function rest(scanner: ReplyScanner, at: number): typeof RESTS {
  scanner.restsAt = at
  return RESTS
}

function isOver(scanner: ReplyScanner): boolean {
  return scanner.phase === START
}

function begin(scanner: ReplyScanner): void {
  scanner.phase = TYPE
  scanner.left = 1
  scanner.fresh = true
  scanner.first = false
  scanner.type = 0
  scanner.text = ''
  scanner.word = ''
  scanner.isNil = false
  if (scanner.failed.length > 0) scanner.failed = []
  scanner.watchedSeen = 0
}

function takeType(scanner: ReplyScanner, type: number): void {
  scanner.looks += 1
  scanner.lineType = type
  if (scanner.fresh && type !== ATTRIBUTE && scanner.outer.length === 0) {
    scanner.type = type
    scanner.isNil = type === NULL
    scanner.fresh = false
  } else if (scanner.watched.length > 0 && scanner.outer.length === 1 && !scanner.fresh)
    noteElement(scanner, type)
  switch (type) {
    case PLUS:
    case ERROR:
    case INTEGER:
    case NULL:
    case BOOLEAN:
    case DOUBLE:
    case BIG_NUMBER:
      scanner.phase = LINE
      return
    case BULK:
    case ARRAY:
    case MAP:
    case SET:
    case PUSH:
    case ATTRIBUTE:
    case VERBATIM:
    case BULK_ERROR:
      scanner.phase = NUMBER
      scanner.value = 0
      scanner.digits = 0
      scanner.negative = false
      return
    default:
      fail(scanner, `no value begins with the byte ${type}`)
  }
}

function noteElement(scanner: ReplyScanner, type: number): void {
  const { watched, watchedSeen, size, left } = scanner
  // An attribute precedes the element that it belongs to.
  if (watched[watchedSeen] !== size - left || type === ATTRIBUTE) return
  scanner.watchedSeen += 1
  if (type === ERROR || type === BULK_ERROR) scanner.failed.push(size - left)
}

function readLine(scanner: ReplyScanner, chunk: Buffer, from: number): number {
  let at = from
  while (at < chunk.length && chunk[at] !== LF) at += 1
  if (scanner.lineType === ERROR && scanner.outer.length === 0 && scanner.text.length < LONGEST_TEXT)
    scanner.text += chunk.toString('latin1', from, Math.min(at, from + LONGEST_TEXT))
  if (at === chunk.length) return at
  scanner.first = false
  endValue(scanner)
  return at + 1
}

function readNumber(scanner: ReplyScanner, chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0
    if (byte >= ZERO && byte <= NINE && scanner.digits < 15) {
      scanner.value = scanner.value * 10 + byte - ZERO
      scanner.digits += 1
    } else if (byte === MINUS && scanner.digits === 0 && !scanner.negative) {
      scanner.negative = true
    } else if (byte === CR && scanner.digits > 0) {
      scanner.phase = NUMBER_END
      return at + 1
    } else return fail(scanner, 'a length is not a number')
  }
  return chunk.length
}

function takeNumber(scanner: ReplyScanner): void {
  const { lineType, value } = scanner
  // Of the message itself: the outermost level has only it, and attributes, which are never nil.
  if (scanner.negative && scanner.outer.length === 0) scanner.isNil = true
  if (lineType === BULK || lineType === VERBATIM || lineType === BULK_ERROR) {
    if (scanner.negative) {
      scanner.first = false
      endValue(scanner)
      return
    }
    scanner.first &&= value <= LONGEST_WORD
    scanner.bytesLeft = value + 2
    scanner.phase = BODY
    return
  }
  takeAggregate(scanner, scanner.negative ? 0 : value)
}

function takeAggregate(scanner: ReplyScanner, count: number): void {
  const { lineType } = scanner
  const isTop = scanner.outer.length === 0 && lineType === scanner.type && lineType !== ATTRIBUTE
  // An attribute precedes a value and is none: its level still needs one more.
  if (lineType === ATTRIBUTE) scanner.left += 1
  scanner.first = isTop && count > 0 && (lineType === PUSH || (lineType === ARRAY && scanner.keepWord))
  const values = lineType === MAP || lineType === ATTRIBUTE ? 2 * count : count
  if (values === 0) {
    endValue(scanner)
    return
  }
  if (scanner.outer.length >= DEEPEST) {
    fail(scanner, `a reply is nested more than ${DEEPEST} deep`)
    return
  }
  if (isTop) scanner.size = values
  // If this is the last value of its level, both end together: a chain of lists needs no memory.
  if (scanner.left > 1 || scanner.outer.length < 2) scanner.outer.push(scanner.left)
  scanner.left = values
  scanner.phase = TYPE
}

/** Call when a value is complete; this may complete outer ones. */
function endValue(scanner: ReplyScanner): void {
  scanner.left -= 1
  while (scanner.left === 0) {
    const outer = scanner.outer.pop()
    if (outer === undefined) {
      scanner.phase = START
      return
    }
    scanner.left = outer - 1
  }
  scanner.phase = TYPE
}

/** The last two of `bytesLeft` are the line's end. */
function takeWord(scanner: ReplyScanner, chunk: Buffer, from: number, to: number): void {
  const end = Math.min(to, from + Math.max(0, scanner.bytesLeft - 2))
  if (end > from) scanner.word += chunk.toString('latin1', from, end)
}

function fail(scanner: ReplyScanner, error: string): -1 {
  scanner.error = error
  return -1
}

/**
 * Finds where the messages of an engine end (RESP2 and RESP3), in bytes that arrive cut anywhere. Keeps nothing but a
 * few bytes of errors and of first words, where it is asked to.
 */
export interface ReplyScanner {
  /** Keep the first word of arrays: pub/sub messages of RESP2 are told by it. Pushes always keep theirs. */
  keepWord: boolean

  // What is known of the message that ended last, or is being read.
  /** Its first byte, after any attributes: `-` an error, `>` a push, … */
  type: number
  /** Of an error its line, up to LONGEST_TEXT bytes. */
  text: string
  /** The first element, if it is a short text. */
  word: string
  /** What the engine sent makes no sense; nothing can be understood from here on. */
  error: string | undefined

  // Where the scanner stands.
  phase: Phase
  lineType: number
  value: number
  digits: number
  negative: boolean
  /** Values that are still to come on the level that is being read. */
  left: number
  /** The same of the levels around it. */
  outer: number[]
  bytesLeft: number
  /** No value but attributes has begun. */
  fresh: boolean
  /** The next value is the first element of the message. */
  first: boolean
}

const START = 0
const TYPE = 1
const LINE = 2
const NUMBER = 3
const NUMBER_END = 4
const BODY = 5
type Phase = 0 | 1 | 2 | 3 | 4 | 5

/** Deeper than any reply of any command; a script may nest as deep as it likes, and is cut off here. */
const DEEPEST = 1_000
const LONGEST_TEXT = 256
const LONGEST_WORD = 16

export function createReplyScanner(): ReplyScanner {
  return {
    keepWord: false,
    type: 0,
    text: '',
    word: '',
    error: undefined,
    phase: START,
    lineType: 0,
    value: 0,
    digits: 0,
    negative: false,
    left: 0,
    outer: [],
    bytesLeft: 0,
    fresh: true,
    first: false,
  }
}

/** No part of a further message has been read. */
export function isBetweenReplies(scanner: ReplyScanner): boolean {
  return scanner.phase === START
}

/**
 * Reads on at `from`. Returns the position behind the message that ends first; -1 if none ends in `chunk`, all of which
 * has then been read, or if `scanner.error` is set.
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
}

function takeType(scanner: ReplyScanner, type: number): void {
  scanner.lineType = type
  if (scanner.fresh && type !== ATTRIBUTE && scanner.outer.length === 0) {
    scanner.type = type
    scanner.fresh = false
  }
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
  // An attribute stands before a value and is none: one more is to come on its level.
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
  scanner.outer.push(scanner.left)
  scanner.left = values
  scanner.phase = TYPE
}

/** A value is complete, and with it perhaps those around it. */
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

const PLUS = 0x2b
export const ERROR = 0x2d
const INTEGER = 0x3a
const BULK = 0x24
export const ARRAY = 0x2a
const NULL = 0x5f
const BOOLEAN = 0x23
const DOUBLE = 0x2c
const BIG_NUMBER = 0x28
const BULK_ERROR = 0x21
const VERBATIM = 0x3d
const MAP = 0x25
const SET = 0x7e
export const PUSH = 0x3e
const ATTRIBUTE = 0x7c
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const NINE = 0x39
const MINUS = 0x2d

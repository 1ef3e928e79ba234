import { findCommand } from './command-table.ts'
import { endOfPlainRequest } from './end-of-plain-request.ts'
import { gather, takeGathered } from './gathered-bytes.ts'
import { isKept, keep, WORD_COSTS } from './kept-words.ts'
import {
  BODY,
  BODY_END,
  COUNT,
  COUNT_END,
  DOLLAR,
  INLINE,
  LENGTH,
  LENGTH_END,
  type RequestScanner,
  START,
} from './request-scanner.ts'
import { RESTS } from './scan-replies.ts'
import { inlineAsArray, isReadDifferently, splitInline } from './split-inline.ts'

/** The engines' limits, measured on Redis 7.0 and 8.0, Valkey 8.0 to 9.1. */
const MOST_BULKS = 2 ** 31 - 1
const LONGEST_BULK = 512 * 1024 * 1024
/** Limit of an incomplete line. */
const LONGEST_LINE = 64 * 1024
/**
 * Limit of a line whose end came in the same read. Engines usually accept 70 KB, and more from a client that
 * was blocked: such a line is forwarded as an array, which all accept.
 */
const LONGEST_WHOLE_LINE = 2 * LONGEST_LINE

/** True if no part of a further message was read. */
export function isBetweenRequests(scanner: RequestScanner): boolean {
  return scanner.phase === START
}

/**
 * Continues at `from`. Returns the position after the first message that ends; -1 if none ends in `chunk`,
 * which is then read completely, or if `scanner.error` is set; RESTS after `mostLooks` words, then it has
 * read up to `restsAt`.
 */
export function scanRequest(scanner: RequestScanner, chunk: Buffer, from: number): number {
  const { length } = chunk
  let at = from
  while (at < length) {
    switch (scanner.phase) {
      case START:
        at += begin(scanner, chunk[at] === STAR)
        if (at > from && !scanner.keepAll) {
          const end = endOfPlainRequest(scanner, chunk, at - 1)
          if (end > 0) {
            scanner.phase = START
            return end
          }
        }
        break
      case COUNT:
      case LENGTH:
        at = readNumber(scanner, chunk, at)
        break
      case COUNT_END:
        if (chunk[at] !== LF) return fail(scanner, 'invalid CRLF in request')
        at += 1
        if (takeCount(scanner)) return at
        break
      case DOLLAR:
        if (scanner.looks >= scanner.mostLooks) {
          scanner.restsAt = at
          return RESTS
        }
        if (chunk[at] !== DOLLAR_SIGN)
          return fail(scanner, `expected '$', got '${printable(chunk[at] ?? 0)}'`)
        startNumber(scanner, LENGTH)
        at += 1
        break
      case LENGTH_END:
        if (chunk[at] !== LF) return fail(scanner, 'invalid CRLF in request')
        at += 1
        takeLength(scanner)
        break
      case BODY:
        at = readBody(scanner, chunk, at)
        break
      case BODY_END:
        at = readBodyEnd(scanner, chunk, at)
        if (isBetweenRequests(scanner)) return at
        break
      case INLINE:
        return readInline(scanner, chunk, at)
    }
    if (scanner.error !== undefined) return -1
  }
  return -1
}

/** Returns the number of bytes taken: the star of an array. */
function begin(scanner: RequestScanner, isArray: boolean): number {
  // The words of a noted command now belong to its reader, even if there were none.
  if (scanner.words.length > 0 || scanner.command !== undefined) scanner.words = []
  scanner.command = undefined
  scanner.cutShort = false
  scanner.empty = false
  scanner.index = 0
  scanner.keptBytes = 0
  scanner.drops = false
  scanner.lineBytes = 0
  scanner.instead = null
  if (!isArray) {
    scanner.phase = INLINE
    return 0
  }
  startNumber(scanner, COUNT)
  return 1
}

function startNumber(scanner: RequestScanner, phase: typeof COUNT | typeof LENGTH): void {
  scanner.phase = phase
  scanner.value = 0
  scanner.digits = 0
  scanner.negative = false
}

/** Reads up to the CR. Numbers have the engines' form: no sign except "-", no leading zero. */
function readNumber(scanner: RequestScanner, chunk: Buffer, from: number): number {
  let at = from
  for (; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0
    if (byte >= ZERO && byte <= NINE) {
      if (scanner.digits > 0 && scanner.value === 0) return badNumber(scanner)
      scanner.value = scanner.value * 10 + byte - ZERO
      scanner.digits += 1
      if (scanner.digits > 18) return badNumber(scanner)
    } else if (byte === MINUS && scanner.digits === 0 && !scanner.negative) {
      scanner.negative = true
    } else if (byte === CR && scanner.digits > 0 && !(scanner.negative && scanner.value === 0)) {
      scanner.phase = scanner.phase === COUNT ? COUNT_END : LENGTH_END
      return at + 1
    } else return badNumber(scanner)
  }
  return at
}

function badNumber(scanner: RequestScanner): number {
  return fail(scanner, scanner.phase === COUNT ? 'invalid multibulk length' : 'invalid bulk length')
}

/** Returns true if this ends the message, which then requests nothing. */
function takeCount(scanner: RequestScanner): boolean {
  if (scanner.value > MOST_BULKS) {
    fail(scanner, 'invalid multibulk length')
    return false
  }
  scanner.empty = scanner.negative || scanner.value === 0
  scanner.bulksLeft = scanner.value
  scanner.phase = scanner.empty ? START : DOLLAR
  return scanner.empty
}

function takeLength(scanner: RequestScanner): void {
  scanner.looks += 1
  if (scanner.negative || scanner.value > LONGEST_BULK) {
    fail(scanner, 'invalid bulk length')
    return
  }
  scanner.bytesLeft = scanner.value
  if (scanner.value > 0) {
    scanner.phase = BODY
    return
  }
  if (isKept(scanner)) keep(scanner, Buffer.alloc(0))
  scanner.phase = BODY_END
  scanner.bytesLeft = 2
}

/** Reads the available part of a bulk string. Returns the position after it. */
function readBody(scanner: RequestScanner, chunk: Buffer, from: number): number {
  const end = Math.min(chunk.length, from + scanner.bytesLeft)
  takeBody(scanner, chunk, from, end)
  scanner.bytesLeft -= end - from
  if (scanner.bytesLeft === 0) {
    scanner.phase = BODY_END
    scanner.bytesLeft = 2
  }
  return end
}

/** Reads the two bytes after a bulk string, which only the engine checks. Returns the position after them. */
function readBodyEnd(scanner: RequestScanner, chunk: Buffer, from: number): number {
  const end = Math.min(chunk.length, from + scanner.bytesLeft)
  scanner.bytesLeft -= end - from
  if (scanner.bytesLeft > 0) return end
  scanner.bulksLeft -= 1
  scanner.index += 1
  scanner.phase = scanner.bulksLeft === 0 ? START : DOLLAR
  return end
}

function takeBody(scanner: RequestScanner, chunk: Buffer, from: number, to: number): void {
  const { index, value } = scanner
  if (index > 0 && !isKept(scanner)) return
  const isWhole = to - from === scanner.value
  if (index === 0) {
    if (isWhole) scanner.command = findCommand(scanner, chunk, from, to)
    else if (value > scanner.keepsMost) return
  }
  if (!isWhole) {
    takePart(scanner, chunk.subarray(from, to))
    return
  }
  if (isKept(scanner)) keep(scanner, Buffer.from(chunk.subarray(from, to)))
}

function takePart(scanner: RequestScanner, part: Buffer): void {
  if (scanner.drops || scanner.value + scanner.keptBytes > scanner.keepsMost) {
    scanner.cutShort = true
    return
  }
  gather(scanner.part, part)
  if (part.length < scanner.bytesLeft) return
  const word = takeGathered(scanner.part)
  if (scanner.index === 0) scanner.command = findCommand(scanner, word, 0, word.length)
  if (isKept(scanner)) keep(scanner, word)
}

function readInline(scanner: RequestScanner, chunk: Buffer, from: number): number {
  const end = chunk.indexOf(LF, from)
  const part = chunk.subarray(from, end < 0 ? chunk.length : end)
  scanner.lineBytes += part.length
  if (scanner.lineBytes > (end < 0 ? LONGEST_LINE : LONGEST_WHOLE_LINE))
    return fail(scanner, 'too big inline request')
  if (end < 0) {
    gather(scanner.part, part)
    return -1
  }
  let line = part
  if (scanner.part.length > 0) {
    gather(scanner.part, part)
    line = takeGathered(scanner.part)
  }
  takeLine(scanner, line.at(-1) === CR ? line.subarray(0, -1) : line)
  return scanner.error === undefined ? end + 1 : -1
}

function takeLine(scanner: RequestScanner, line: Buffer): void {
  // Engines search for the line's end only up to a zero byte, and so would wait forever.
  if (line.includes(0)) {
    fail(scanner, line.length > LONGEST_LINE ? 'too big inline request' : 'zero byte in inline request')
    return
  }
  const most = scanner.keepAll ? Math.floor(scanner.keepsMost / WORD_COSTS) : 1
  const words = splitInline(line, most + 1)
  if (words === null) {
    fail(scanner, 'unbalanced quotes in request')
    return
  }
  scanner.phase = START
  const [name] = words
  scanner.empty = name === undefined
  if (line.length > LONGEST_LINE || isReadDifferently(line)) scanner.instead = inlineAsArray(line)
  if (name === undefined) return
  scanner.command = findCommand(scanner, name, 0, name.length)
  const keeps = scanner.command?.keeps ?? 0
  scanner.cutShort = scanner.keepAll && words.length > most
  if (scanner.keepAll) scanner.words = words.slice(0, most)
  else if (keeps > 0) scanner.words = splitInline(line, 1 + keeps)?.slice(1) ?? []
}

function fail(scanner: RequestScanner, error: string): -1 {
  scanner.error = error
  return -1
}

/** Shows a byte like the engines: a line's end is a space. Unprintable ones would break the error's line. */
function printable(byte: number): string {
  if (byte === CR || byte === LF) return ' '
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '?'
}

const STAR = 0x2a
const DOLLAR_SIGN = 0x24
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const NINE = 0x39
const MINUS = 0x2d

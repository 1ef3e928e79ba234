/**
 * Finds the ends of an engine's messages (RESP2 and RESP3), in bytes that are split anywhere. Keeps only a
 * few bytes of errors and, if requested, of first words.
 */
export interface ReplyScanner {
  /** True to keep the first word of arrays, which identifies RESP2 messages. Pushes always keep theirs. */
  keepWord: boolean
  /** Numbers of elements, from 0, ascending; `failed` shows which of them are errors. */
  watched: readonly number[]

  // Properties of the message that ended last, or is being read.
  /** First byte after any attributes: `-` an error, `>` a push, … */
  type: number
  /** Line of an error, up to LONGEST_TEXT bytes. */
  text: string
  /** The first element, if it is a short text. */
  word: string
  /** True for null: RESP3's null, or an array or text of length -1. */
  isNil: boolean
  /** The `watched` elements that are errors. */
  failed: number[]
  /** Set if the bytes are no reply; the rest is unreadable. */
  error: string | undefined

  /** Number of examined values, including nested ones. Its reader resets it. */
  looks: number
  /** After this many looks it pauses within a message, at `restsAt` of the chunk. */
  mostLooks: number
  restsAt: number

  // Position of the scanner.
  phase: Phase
  lineType: number
  value: number
  digits: number
  negative: boolean
  /** Number of missing values on the current level. */
  left: number
  /** The same for outer levels, omitting (after the first two) those that end with their inner level. */
  outer: number[]
  /** Number of the message's elements, and of `watched` ones that have come. */
  size: number
  watchedSeen: number
  bytesLeft: number
  /** True until a value other than an attribute begins. */
  fresh: boolean
  /** True if the next value is the message's first element. */
  first: boolean
}

/** Phases of a reply scanner. START: between two messages. */
export const START = 0
/** A message has begun; the first byte of its next value follows. */
export const TYPE = 1
/** In a value that is one line: text, error, number. */
export const LINE = 2
/** In the digits of a length or of a number of elements. */
export const NUMBER = 3
/** Between the CR and the LF after these digits. */
export const NUMBER_END = 4
/** In the bytes of a text of known length, or in the two bytes after it. */
export const BODY = 5
type Phase = 0 | 1 | 2 | 3 | 4 | 5

const none: readonly number[] = []

/** Creates a scanner before the first message of one connection from an engine. */
export function createReplyScanner(): ReplyScanner {
  return {
    keepWord: false,
    watched: none,
    type: 0,
    text: '',
    word: '',
    isNil: false,
    failed: [],
    error: undefined,
    looks: 0,
    mostLooks: Number.POSITIVE_INFINITY,
    restsAt: 0,
    phase: START,
    lineType: 0,
    value: 0,
    digits: 0,
    negative: false,
    left: 0,
    outer: [],
    size: 0,
    watchedSeen: 0,
    bytesLeft: 0,
    fresh: true,
    first: false,
  }
}

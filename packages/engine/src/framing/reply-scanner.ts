/**
 * Finds where the messages of an engine end (RESP2 and RESP3), in bytes that arrive cut anywhere. Keeps nothing but a
 * few bytes of errors and of first words, where it is asked to.
 */
export interface ReplyScanner {
  /** Keep the first word of arrays: pub/sub messages of RESP2 are told by it. Pushes always keep theirs. */
  keepWord: boolean
  /** Elements, by their number from 0 in ascending order, of which `failed` is to tell whether they are errors. */
  watched: readonly number[]

  // What is known of the message that ended last, or is being read.
  /** Its first byte, after any attributes: `-` an error, `>` a push, … */
  type: number
  /** Of an error its line, up to LONGEST_TEXT bytes. */
  text: string
  /** The first element, if it is a short text. */
  word: string
  /** It is null: RESP3's null, or an array or text of length -1. */
  isNil: boolean
  /** Those of the `watched` elements that are errors. */
  failed: number[]
  /** The bytes of the engine are no reply; from here on nothing can be understood. */
  error: string | undefined

  /** How many values it has looked at, those inside of others too. Its reader sets it back. */
  looks: number
  /** After so many looks it rests, in the middle of a message: at `restsAt` of the chunk. */
  mostLooks: number
  restsAt: number

  // Where the scanner stands.
  phase: Phase
  lineType: number
  value: number
  digits: number
  negative: boolean
  /** The number of values that are missing on the level that is being read. */
  left: number
  /** The same of the levels around it; without those, but for the first two, that end with the level in them. */
  outer: number[]
  /** The number of elements of the message, and how many of the `watched` ones have come. */
  size: number
  watchedSeen: number
  bytesLeft: number
  /** No value but attributes has begun. */
  fresh: boolean
  /** The next value is the first element of the message. */
  first: boolean
}

/** The phases of a reply scanner. START: between two messages. */
export const START = 0
/** A message has begun; the first byte of its next value is due. */
export const TYPE = 1
/** In a value that is one line: text, error, number. */
export const LINE = 2
/** In the digits of a length or of a number of elements. */
export const NUMBER = 3
/** Between the CR and the LF behind these digits. */
export const NUMBER_END = 4
/** In the bytes of a text of known length, or in the two bytes behind it. */
export const BODY = 5
type Phase = 0 | 1 | 2 | 3 | 4 | 5

const none: readonly number[] = []

/**
 * A scanner that stands before the first message of a connection; for one connection, and in the direction from the
 * engine.
 */
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

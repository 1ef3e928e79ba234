import type { CommandTable, NotedCommand } from './command-table.ts'
import { createGatheredBytes, type GatheredBytes, takeGathered } from './gathered-bytes.ts'

/**
 * Finds where the requests of one client end, in bytes that arrive cut anywhere. Nothing is copied but the arguments of
 * noted commands, and what is kept of a message never exceeds `keepsMost`.
 */
export interface RequestScanner {
  /** What is noted; may be another one from request to request. */
  table: CommandTable
  /** Keep the name and all arguments of every command from the next one on, as far as `keepsMost` allows. */
  keepAll: boolean
  /** How many bytes may be kept of a message. */
  keepsMost: number

  // What is known of the message that ended last, or is being read.
  /** Undefined: not noted (or its name not yet read). */
  command: NotedCommand | undefined
  /** Of a noted command its first arguments; with `keepAll` the name and all arguments. */
  words: Buffer[]
  /** Not everything could be kept. */
  cutShort: boolean
  /** The message asks for nothing, so nothing will answer it. */
  empty: boolean
  /** How long its line is, if it is an inline request: all of it was looked at. 0: it is an array. */
  lineBytes: number
  /** What means the same to every engine, if the line does not: its words as an array. */
  instead: Buffer | null
  /** How many words of arrays it has looked at one by one. Its reader sets it back. */
  looks: number
  /** After so many looks it rests, in the middle of a message: at `restsAt` of the chunk. */
  mostLooks: number
  restsAt: number
  /** The error, in the engines' words, after which the bytes can no longer be understood. */
  error: string | undefined

  // Where the scanner stands.
  phase: Phase
  value: number
  digits: number
  negative: boolean
  bulksLeft: number
  index: number
  bytesLeft: number
  keptBytes: number
  /** Nothing more of this message is kept. */
  drops: boolean
  /** What has come of a word, or of an inline line, that was cut. */
  readonly part: GatheredBytes
}

/** Where in a message a scanner stands. */
export const START = 0
/** In the digits behind `*`: the number of bulk strings. */
export const COUNT = 1
/** Between the CR and the LF behind the count. */
export const COUNT_END = 2
/** The `$` of the next bulk string is due. */
export const DOLLAR = 3
/** In the digits behind `$`: a length in bytes. */
export const LENGTH = 4
/** Between the CR and the LF behind the length. */
export const LENGTH_END = 5
/** In the bytes of a bulk string. */
export const BODY = 6
/** In the two bytes behind a bulk string. */
export const BODY_END = 7
/** In a request of one line, as people type it. */
export const INLINE = 8
type Phase = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** What is kept of one message, unless set otherwise. No connection needs more to be restored. */
export const KEPT_BYTES = 1024 * 1024

/** A scanner that stands before the first request of a client; `table` says which commands are noted. */
export function createRequestScanner(table: CommandTable): RequestScanner {
  return {
    table,
    keepAll: false,
    keepsMost: KEPT_BYTES,
    command: undefined,
    words: [],
    cutShort: false,
    empty: false,
    error: undefined,
    phase: START,
    value: 0,
    digits: 0,
    negative: false,
    lineBytes: 0,
    instead: null,
    looks: 0,
    mostLooks: Number.POSITIVE_INFINITY,
    restsAt: 0,
    bulksLeft: 0,
    index: 0,
    bytesLeft: 0,
    keptBytes: 0,
    drops: false,
    part: createGatheredBytes(),
  }
}

/**
 * Forgets what was read of a message that has not ended: its bytes will be read again, from the first one.
 */
export function rewindRequest(scanner: RequestScanner): void {
  scanner.phase = START
  takeGathered(scanner.part)
}

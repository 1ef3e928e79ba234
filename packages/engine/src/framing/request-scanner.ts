import type { CommandTable, NotedCommand } from './command-table.ts'
import { createGatheredBytes, type GatheredBytes, takeGathered } from './gathered-bytes.ts'

/**
 * Finds the ends of one client's requests, in bytes that are split anywhere. It copies only arguments of
 * noted commands, at most `keepsMost` bytes per message.
 */
export interface RequestScanner {
  /** Noted commands; may change between requests. */
  table: CommandTable
  /** True to keep the name and all arguments of each following command, within `keepsMost`. */
  keepAll: boolean
  /** Limit of kept bytes of a message. */
  keepsMost: number

  // Properties of the message that ended last, or is being read.
  /** Undefined if not noted (or its name is not yet read). */
  command: NotedCommand | undefined
  /** Hash of its name (`hashName`), or of the last one that was read; 0 before, and for a very long one. */
  nameHash: number
  /** First arguments of a noted command; with `keepAll` the name and all arguments. */
  words: Buffer[]
  /** True if not everything could be kept. */
  cutShort: boolean
  /** True if the message requests nothing, so it gets no reply. */
  empty: boolean
  /** Length of the line of an inline request, which was fully examined. 0 for an array. */
  lineBytes: number
  /** The words as an array, if engines would read the line differently. */
  instead: Buffer | null
  /** Number of array words examined one at a time. Its reader resets it. */
  looks: number
  /** After this many looks it pauses within a message, at `restsAt` of the chunk. */
  mostLooks: number
  restsAt: number
  /** Error, in the engines' words, after which the bytes are unreadable. */
  error: string | undefined

  // Position of the scanner.
  phase: Phase
  value: number
  digits: number
  negative: boolean
  bulksLeft: number
  index: number
  bytesLeft: number
  keptBytes: number
  /** True if nothing more of this message is kept. */
  drops: boolean
  /** Bytes of an incomplete word or inline line. */
  readonly part: GatheredBytes
}

/** Phases of a request scanner. START: between two messages. */
export const START = 0
/** In the digits after `*`: the number of bulk strings. */
export const COUNT = 1
/** Between the CR and the LF after the count. */
export const COUNT_END = 2
/** The `$` of the next bulk string follows. */
export const DOLLAR = 3
/** In the digits after `$`: a length in bytes. */
export const LENGTH = 4
/** Between the CR and the LF after the length. */
export const LENGTH_END = 5
/** In the bytes of a bulk string. */
export const BODY = 6
/** In the two bytes after a bulk string. */
export const BODY_END = 7
/** In a request of one line, as people type it. */
export const INLINE = 8
type Phase = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** Default limit of a message's kept bytes. No connection needs more to be restored. */
export const KEPT_BYTES = 1024 * 1024

/** Creates a scanner before the first request of a client; `table` has the noted commands. */
export function createRequestScanner(table: CommandTable): RequestScanner {
  return {
    table,
    keepAll: false,
    keepsMost: KEPT_BYTES,
    command: undefined,
    nameHash: 0,
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

/** Forgets an incomplete message: its bytes will be read again from the first one. */
export function rewindRequest(scanner: RequestScanner): void {
  scanner.phase = START
  takeGathered(scanner.part)
}

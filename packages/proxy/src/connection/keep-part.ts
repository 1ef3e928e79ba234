import type { Connection, SentPart } from './connection.ts'

/** Longest request whose forwarded bytes are kept. A longer one is completed at the engine where it began. */
export const LONGEST_PART_BYTES = 8 * 1024 * 1024
/** Limit of kept bytes for all connections of a thread. */
const MOST_BYTES = 128 * 1024 * 1024
/** Cost of a chunk in addition to its bytes: a client may send each byte as a separate chunk. */
const CHUNK_COSTS = 512
const thread = { bytes: 0 }

/** Called before the beginning of a long request is forwarded. `pieces`: all its bytes that have arrived. */
export function beginPart(connection: Connection, pieces: readonly Buffer[]): void {
  dropPart(connection)
  connection.input.part = { chunks: [], bytes: 0 }
  for (const piece of pieces) addToPart(connection, piece)
}

/** Called before more bytes of the request are forwarded. Keeps `chunk` without a copy. */
export function addToPart(connection: Connection, chunk: Buffer): void {
  const {
    input: { part },
  } = connection
  if (part === null || chunk.length === 0) return
  const costs = chunk.length + CHUNK_COSTS
  part.chunks.push(chunk)
  part.bytes += costs
  thread.bytes += costs
  if (!mayBeKept(connection, part)) dropPart(connection)
}

/** Called when the request is complete, or its connection is closed. */
export function dropPart(connection: Connection): void {
  thread.bytes -= connection.input.part?.bytes ?? 0
  connection.input.part = null
}

/** Returns the kept bytes, for another engine, and drops them. */
export function takePart(connection: Connection): readonly Buffer[] {
  const chunks = connection.input.part?.chunks ?? []
  dropPart(connection)
  return chunks
}

/**
 * Without replies it is unknown which earlier requests were executed, so the request must end at the same
 * engine.
 */
function mayBeKept(
  { link, input: { requests }, session: { ahead } }: Connection,
  { bytes }: SentPart,
): boolean {
  if (ahead.silent || ahead.skipsNext || link?.unproven === true) return false
  return bytes + requests.bytesLeft <= LONGEST_PART_BYTES && thread.bytes <= MOST_BYTES
}

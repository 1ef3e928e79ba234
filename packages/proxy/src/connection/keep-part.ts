import type { Connection, SentPart } from './connection.ts'

/** Of a longer request nothing is kept: it ends at the engine where it began. */
export const LONGEST_PART_BYTES = 8 * 1024 * 1024
/** Of all connections of a thread. */
const MOST_BYTES = 128 * 1024 * 1024
/** A chunk costs its object, too: a client may send each byte on its own. */
const CHUNK_COSTS = 512
const thread = { bytes: 0 }

/** The beginning of a long request is about to be forwarded: `pieces` are all bytes of it that there are. */
export function beginPart(connection: Connection, pieces: readonly Buffer[]): void {
  dropPart(connection)
  connection.part = { chunks: [], bytes: 0 }
  for (const piece of pieces) addToPart(connection, piece)
}

/** More of it is about to be forwarded. `chunk` is kept as it is, without a copy. */
export function addToPart(connection: Connection, chunk: Buffer): void {
  const { part } = connection
  if (part === null || chunk.length === 0) return
  const costs = chunk.length + CHUNK_COSTS
  part.chunks.push(chunk)
  part.bytes += costs
  thread.bytes += costs
  if (!mayBeKept(connection, part)) dropPart(connection)
}

/** It is whole, or its connection is closed. */
export function dropPart(connection: Connection): void {
  thread.bytes -= connection.part?.bytes ?? 0
  connection.part = null
}

/** All that was kept, for another engine to get; nothing is left. */
export function takePart(connection: Connection): readonly Buffer[] {
  const chunks = connection.part?.chunks ?? []
  dropPart(connection)
  return chunks
}

/** Without replies nothing tells what the engine has carried out of the requests before it: then it ends where it began. */
function mayBeKept({ requests, ahead, link }: Connection, { bytes }: SentPart): boolean {
  if (ahead.silent || ahead.skipsNext || link?.unproven === true) return false
  return bytes + requests.bytesLeft <= LONGEST_PART_BYTES && thread.bytes <= MOST_BYTES
}

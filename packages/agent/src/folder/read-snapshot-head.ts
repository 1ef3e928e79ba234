import { openPlainFile } from '../process/open-plain-file.ts'

/** History and offset of a snapshot, from its first lines. Null: its primary had no replica then. */
export interface SnapshotHead {
  readonly replid: string | null
  readonly offset: number | null
}

/** The fields before the data have about 200 bytes. */
const HEAD_BYTES = 4_096
const MAGIC_BYTES = 9 // "REDIS0011", "VALKEY080"
const AUX = 0xfa

/**
 * Reads the head of dump.rdb: names and values, such as `repl-id` and `repl-offset`. All current engines
 * write these (measured: Redis 7.0 and 8.0, Valkey 8.0, 8.1 and 9.1).
 */
export async function readSnapshotHead(path: string): Promise<SnapshotHead> {
  await using file = await openPlainFile(path)
  const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 })
  return parseSnapshotHead(buffer.subarray(0, bytesRead))
}

/** Reads the auxiliary fields (opcode FA) at the beginning of `dump.rdb`; `bytes` may end within them. */
export function parseSnapshotHead(bytes: Buffer): SnapshotHead {
  const fields = new Map<string, string>()
  let at = MAGIC_BYTES
  while (bytes[at] === AUX) {
    const name = readString(bytes, at + 1)
    const value = name && readString(bytes, name.end)
    if (!value) break
    fields.set(name.text, value.text)
    at = value.end
  }
  const offset = fields.get('repl-offset')
  return {
    replid: fields.get('repl-id') ?? null,
    offset: offset === undefined || !/^\d+$/.test(offset) ? null : Number(offset),
  }
}

interface Piece {
  readonly text: string
  /** Start of the next one. */
  readonly end: number
}

/** Reads an RDB string: a length and as many bytes, or a number. Undefined if truncated or compressed. */
function readString(bytes: Buffer, at: number): Piece | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  const low = first & 0x3f
  switch (first >> 6) {
    case 0:
      return readText(bytes, at + 1, low)
    case 1:
      return at + 1 < bytes.length ? readText(bytes, at + 2, (low << 8) | bytes.readUInt8(at + 1)) : undefined
    case 3:
      return readNumber(bytes, at + 1, low)
    default:
      return undefined
  }
}

function readText(bytes: Buffer, from: number, length: number): Piece | undefined {
  const end = from + length
  return end > bytes.length ? undefined : { text: bytes.toString('latin1', from, end), end }
}

/** Signed, least significant byte first, of 1, 2 or 4 bytes. */
function readNumber(bytes: Buffer, from: number, kind: number): Piece | undefined {
  const length = [1, 2, 4][kind]
  if (length === undefined || from + length > bytes.length) return undefined
  return { text: String(bytes.readIntLE(from, length)), end: from + length }
}

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { Socket } from 'node:net'
import type { Build } from '@fairlead/api'
import { compareVersions, encodeCommand, openSignedIn, printable } from '@fairlead/engine'
import type { EngineTarget } from '../engine/ask-engine.ts'
import { openPlainFile } from '../process/open-plain-file.ts'

/** A snapshot on the disk. `replid` and `offset`: its point in the history of the database. */
export interface Snapshot {
  readonly format: string
  readonly bytes: number
  readonly sha256: string
  readonly replid: string
  readonly offset: number
}

/** An engine that has not begun yet, or only waits for another of its processes, sends a byte each second. */
const SILENT_MS = 60_000
const CONNECTS_WITHIN_MS = 10_000
const LONGEST_LINE = 1_000
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
const MARK_BYTES = 40
const FORMAT_BYTES = 9
const FORMAT = /^(REDIS\d{4}|VALKEY\d{3})$/

/**
 * Asks an engine for a full sync, as a replica does that wants only the snapshot, and writes it to a new
 * file at `path`, durably. The engine's own files are not touched. Throws if the stream ends early, or pauses
 * for a minute; `onBytes` gets the size of each received part, and throws to end.
 */
export async function streamSnapshot(
  { address, login }: EngineTarget,
  build: Build,
  path: string,
  { signal, onBytes }: { readonly signal: AbortSignal; readonly onBytes: (bytes: number) => Promise<void> },
): Promise<Snapshot> {
  const socket = await openSignedIn({ address, login, withinMs: CONNECTS_WITHIN_MS, signal })
  using _ = { [Symbol.dispose]: () => void socket.destroy() }
  const input = readFrom(socket, signal)
  const [, replid, offset] =
    /^\+FULLRESYNC (\w{40}) (\d+)$/.exec(await requestSync(input, socket, build)) ?? []
  if (replid === undefined) throw new Error('the engine does not begin a full sync')
  const begun = await input.line()
  // A size instead of a mark: the engine has written its own dump.rdb.
  if (!begun.startsWith('$EOF:') || begun.length !== '$EOF:'.length + MARK_BYTES)
    throw new Error(`the engine does not stream its snapshot: ${printable(begun, 100)}`)
  const mark = Buffer.from(begun.slice('$EOF:'.length))

  await using file = await openPlainFile(path, NEW_FILE)
  const hash = createHash('sha256')
  let bytes = 0
  let head = Buffer.alloc(0)
  for (let held = Buffer.alloc(0); ; ) {
    const chunk = await input.chunk()
    const all = Buffer.concat([held, chunk])
    const isEnd = all.subarray(-MARK_BYTES).equals(mark)
    const part = all.subarray(0, Math.max(0, all.length - MARK_BYTES))
    held = all.subarray(part.length)
    hash.update(part)
    await file.writeFile(part)
    bytes += part.length
    if (head.length < FORMAT_BYTES) head = Buffer.concat([head, part.subarray(0, FORMAT_BYTES)])
    await onBytes(part.length)
    if (isEnd) break
  }
  await file.sync()
  const format = head.toString('latin1', 0, FORMAT_BYTES)
  if (!FORMAT.test(format)) throw new Error('the engine has not sent a snapshot')
  return { format, bytes, sha256: hash.digest('hex'), replid, offset: Number(offset) }
}

/** Sends one request after the other: engines refuse a full sync behind an unread reply. */
async function requestSync(input: Input, socket: Socket, build: Build): Promise<string> {
  const ask = (...words: readonly string[]) => {
    socket.write(encodeCommand([...words]))
    return input.line()
  }
  // Without it, the engine would write its own dump.rdb.
  const streams = await ask('REPLCONF', 'capa', 'eof')
  if (streams !== '+OK')
    throw new Error(`the engine does not stream its snapshot: ${printable(streams, 100)}`)
  // Redis before 7 does not know it, and keeps a buffer of changes until the end.
  await ask('REPLCONF', 'rdb-only', '1')
  // Without its own version, the engine would leave out what older ones do not know.
  if (build.flavour === 'valkey' && compareVersions(build.version, '8.0') >= 0)
    await ask('REPLCONF', 'version', build.version)
  const reply = await ask('PSYNC', '?', '-1')
  if (reply.startsWith('-'))
    throw new Error(`the engine refuses a full sync: ${printable(reply.slice(1), 200)}`)
  return reply
}

/** The bytes of a socket, in lines and then in chunks. */
interface Input {
  /** Skips empty lines, which an engine sends while it prepares. */
  line(): Promise<string>
  chunk(): Promise<Buffer>
}

/** Reads only as fast as it is asked. Every read throws when `signal` is aborted, or no byte comes. */
function readFrom(socket: Socket, signal: AbortSignal): Input {
  socket.setTimeout(SILENT_MS, () =>
    socket.destroy(new Error(`the engine has sent nothing for ${SILENT_MS / 1_000} s`)),
  )
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest = Buffer.alloc(0)
  const more = async (): Promise<Buffer> => {
    signal.throwIfAborted()
    const { value, done } = await chunks.next()
    signal.throwIfAborted()
    if (done === true) throw new Error('the engine has closed the connection before the end')
    return value
  }
  return {
    async line() {
      for (;;) {
        const at = rest.indexOf('\n')
        if (at < 0) {
          if (rest.length > LONGEST_LINE) throw new Error('the engine sends no answer')
          rest = Buffer.concat([rest, await more()])
          continue
        }
        const text = rest.toString('latin1', 0, at).trim()
        rest = rest.subarray(at + 1)
        if (text !== '') return text
      }
    },
    async chunk() {
      if (rest.length === 0) return await more()
      const first = rest
      rest = Buffer.alloc(0)
      return first
    },
  }
}

import { connect } from 'node:net'
import type { Address } from './layout.ts'
import { createReplyReader, type Reply, writeCommand } from './resp-lite.ts'

/** One connection to an engine, logged in. It does not open again after its end. */
export interface EngineLink {
  readonly address: Address
  readonly usable: boolean
  send(text: string): void
  /** Ends the connection, and passes `why` to `onEnd`. */
  end(why: string): void
}

/** The time limit for connection and login: a stopped process accepts TCP and answers nothing. */
const READY_WITHIN_MS = 2_000

/**
 * Connects and logs in as the user `default`; an empty password skips the login. `onEnd` is called once, with
 * one word: ECONNREFUSED, WRONGPASS, closed, … Neither `onReply` nor `onReady` follows it.
 */
export function openEngineLink(options: {
  readonly address: Address
  readonly password: string
  /** How much is read at once. */
  readonly bufferBytes?: number
  readonly onReady: () => void
  readonly onReply: (reply: Reply) => void
  readonly onEnd: (why: string) => void
}): EngineLink {
  const { address, password, bufferBytes = 1_024, onReady, onReply, onEnd } = options
  let state: 'opening' | 'ready' | 'ended' = 'opening'
  const reader = createReplyReader(take)
  // A buffer of our own for each connection avoids Node's streams, which are half of the cost of a reply.
  const socket = connect({
    ...address,
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback: read },
  })
  const deadline = setTimeout(() => end('no-login'), READY_WITHIN_MS)
  socket.on('connect', () => (password === '' ? ready() : socket.write(writeCommand('AUTH', password))))
  socket.on('error', (cause: NodeJS.ErrnoException) => end(cause.code ?? 'error'))
  socket.on('close', () => end('closed'))

  return {
    address,
    get usable() {
      return state === 'ready'
    },
    send: (text) => void socket.write(text, 'latin1'),
    end,
  }

  function read(size: number, bytes: Uint8Array): boolean {
    try {
      reader.feed(Buffer.from(bytes.buffer, bytes.byteOffset, size))
    } catch {
      // Bytes that are not a reply answer no command: the outcome of the outstanding command is unknown.
      end('protocol')
    }
    return true
  }

  function take(reply: Reply): void {
    if (state === 'ready') onReply(reply)
    else if (state === 'opening' && reply.kind === 'error') end(errorWord(reply.text))
    else if (state === 'opening') ready()
  }

  function ready(): void {
    if (state !== 'opening') return
    clearTimeout(deadline)
    state = 'ready'
    onReady()
  }

  function end(why: string): void {
    if (state === 'ended') return
    state = 'ended'
    clearTimeout(deadline)
    socket.destroy()
    onEnd(why)
  }
}

/** "READONLY You can't write …" → "READONLY". */
export function errorWord(text: string): string {
  return /^[A-Za-z]+/.exec(text)?.[0] ?? 'ERR'
}

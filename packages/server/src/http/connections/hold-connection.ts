import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { CutReason } from '@fairlead/api'
import { securityHeaders } from '../security-headers.ts'

/** An open response. `signal` aborts when the client is gone or stalled, or on a stop. */
export interface Connection {
  readonly signal: AbortSignal
  /** Resolves when everything is released. */
  readonly closed: Promise<void>
  /** Resolves when more can be written, or the client has gone. */
  write(text: string): Promise<void>
  /** Sends a heartbeat, unless the client still has unread data. */
  beat(): void
  /** Sends the last bytes of the response. */
  end(lastWords: string): void
  /** Aborts `signal`. */
  leave(why?: CutReason): void
  /** The reason why this side ended it; undefined: it did not, or the client needs none. */
  left(): CutReason | undefined
}

/** Time for bytes in transit when the server stops. */
const LAST_WORDS_MS = 200

/** Begins a stream of server-sent events. Keeps at most one buffer in memory, however slow the client. */
export function holdConnection(
  raw: ServerResponse,
  { stop, stalledMs }: { readonly stop: AbortSignal; readonly stalledMs: number },
): Connection {
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, stop])
  let left: CutReason | undefined
  const leave = (why?: CutReason) => {
    if (!signal.aborted) left = why
    gone.abort()
  }
  const closed = new Promise<void>((resolve) => {
    if (raw.destroyed)
      resolve() // the client left before the response
    else raw.once('close', resolve)
  })
  void closed.then(() => leave())
  raw.on('error', () => leave()) // a broken pipe: the client has gone

  const destroyAfter = (ms: number) => {
    // Without another `close`, the timer would keep a stopped server's process alive.
    if (raw.destroyed) return
    const timer = setTimeout(() => raw.destroy(), ms)
    raw.once('close', () => clearTimeout(timer))
  }
  const hurry = () => destroyAfter(LAST_WORDS_MS)
  if (stop.aborted) hurry()
  stop.addEventListener('abort', hurry, { once: true })
  raw.once('close', () => stop.removeEventListener('abort', hurry))

  raw.writeHead(200, {
    ...securityHeaders,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A stopping server waits for response and connection.
    connection: 'close',
    'x-accel-buffering': 'no', // prevents buffering in a proxy
  })
  raw.flushHeaders()
  return {
    signal,
    closed,
    leave,
    left: () => left,
    async write(text) {
      if (raw.write(text)) return
      const patience = AbortSignal.any([signal, AbortSignal.timeout(stalledMs)])
      await once(raw, 'drain', { signal: patience }).catch(() => leave('slow_reader'))
    },
    beat() {
      if (!raw.writableNeedDrain) raw.write(':\n\n')
    },
    end(lastWords) {
      raw.end(lastWords)
      destroyAfter(stalledMs)
    },
  }
}

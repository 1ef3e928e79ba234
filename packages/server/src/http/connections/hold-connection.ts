import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { CutReason } from '@fairlead/api'
import { securityHeaders } from '../security-headers.ts'

/** A response that stays open until `signal` aborts: the client is gone or reads nothing, or the server stops. */
export interface Connection {
  readonly signal: AbortSignal
  /** Resolves when nothing is left of it. */
  readonly closed: Promise<void>
  /** Resolves when more may be written, or when the client has gone. */
  write(text: string): Promise<void>
  /** A heartbeat; nothing is sent to a client that still has enough to read. */
  beat(): void
  /** The last bytes of the response. */
  end(lastWords: string): void
  /** Aborts `signal`. */
  leave(why?: CutReason): void
  /** Why it was left by this side; undefined: it was not, or for no reason that the client has to know. */
  left(): CutReason | undefined
}

/** When the server stops, bytes that are being sent have this long. */
const LAST_WORDS_MS = 200

/** Begins a stream of server-sent events as the answer. At most one buffer of it is in memory, however slow the client. */
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
      resolve() // the client has gone before the response began
    else raw.once('close', resolve)
  })
  void closed.then(() => leave())
  raw.on('error', () => leave()) // a broken pipe only means that the client has gone

  const destroyAfter = (ms: number) => {
    // `close` does not come again: the timer would keep the process of a server that has stopped.
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
    // The connection ends with the response: a stopping server waits for both.
    connection: 'close',
    'x-accel-buffering': 'no', // a proxy in between must not buffer
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

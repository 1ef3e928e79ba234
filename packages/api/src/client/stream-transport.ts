/** The text of an answer, in pieces. */
export type Chunks = AsyncIterable<string>

/**
 * Sends a request whose answer is a stream. Resolves with the head; the connection closes when the reader
 * stops.
 */
export type StreamTransport = (request: {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}) => Promise<{ readonly status: number; readonly chunks: Chunks }>

/** The server sends something every 15 seconds: after this silence the connection is dead. */
const IDLE_MS = 45_000

/** Follows streams at `baseUrl` with fetch. */
export function fetchStreamTransport(baseUrl: string, idleMs = IDLE_MS): StreamTransport {
  return async ({ path, headers, signal }) => {
    const idle = new AbortController()
    const timer = setTimeout(() => idle.abort(new Error(`nothing was heard for ${idleMs} ms`)), idleMs)
    try {
      const response = await fetch(new URL(path, baseUrl), {
        headers,
        signal: signal ? AbortSignal.any([signal, idle.signal]) : idle.signal,
      })
      return { status: response.status, chunks: readChunks(response, idle, idleMs) }
    } finally {
      clearTimeout(timer)
    }
  }
}

async function* readChunks(response: Response, idle: AbortController, idleMs: number): Chunks {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      // The timer only runs during a read, so that a slow reader does not count as a dead connection.
      const timer = setTimeout(() => idle.abort(new Error(`nothing was heard for ${idleMs} ms`)), idleMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => undefined) // it has ended anyway
  }
}

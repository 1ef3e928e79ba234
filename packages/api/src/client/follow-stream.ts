import { ApiError } from './api-error.ts'
import type { Chunks } from './stream-transport.ts'

/** Time for attempts to resume a broken stream: a restart of the server takes seconds. */
const RESUME_WITHIN_MS = 120_000
/** Maximum characters of an event, so that an endless one cannot fill memory. 512 groups need 1 % of it. */
const MOST_OF_EVENT = 16 << 20
/** First pause between attempts, doubled each time. */
const FIRST_PAUSE_MS = 250
const LAST_PAUSE_MS = 5_000

/**
 * Yields the events of a stream, each once and in order, over several connections if needed. A stream cannot
 * resume at an event without `seq`.
 *
 * `connect` opens a connection after the event with this id. Throws errors of the first one; later permanent
 * errors (ApiError below 500), those of two minutes in a row, and the reason of `signal`.
 */
export async function* followStream<Event extends { readonly seq?: number }>(
  connect: (last: string | undefined) => Promise<Chunks>,
  signal?: AbortSignal,
): AsyncGenerator<Event, void, undefined> {
  let last: string | undefined
  let chunks = await connect(last)
  for (;;) {
    try {
      for await (const { id, type, data } of readEvents(chunks)) {
        if (type === 'end') return
        if (type === 'cut') continue // the next connection continues
        const event = JSON.parse(data) as Event // serialized by the operation's schema
        if (event.seq !== undefined) last = id ?? String(event.seq)
        yield event
      }
    } catch (cause) {
      if (signal?.aborted === true || !isPassing(cause)) throw cause
    }
    await pause(FIRST_PAUSE_MS, signal)
    chunks = await connectAgain(() => connect(last), signal)
  }
}

interface SentEvent {
  readonly id?: string
  readonly type: string
  readonly data: string
}

/** Parses server-sent events. Drops comments, unknown fields, and an incomplete event. */
export async function* readEvents(chunks: Chunks): AsyncGenerator<SentEvent, void, undefined> {
  let id: string | undefined
  let type = ''
  let data: string[] = []
  let size = 0
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0)
        yield { ...(id !== undefined && { id }), type: type === '' ? 'message' : type, data: data.join('\n') }
      id = undefined
      type = ''
      data = []
      size = 0
      continue
    }
    size += line.length
    refuseEndless(size)
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') id = value
    if (field === 'event') type = value
    if (field === 'data') data.push(value)
  }
}

/** Whole lines only, ending in CR, LF or both. */
async function* readLines(chunks: Chunks): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of chunks) {
    const text = rest + chunk
    // A final CR may be the first half of a CR LF: it waits for more.
    const open = text.endsWith('\r') ? '\r' : ''
    const lines = text.slice(0, text.length - open.length).split(/\r\n|\n|\r/)
    rest = `${lines.pop() ?? ''}${open}`
    refuseEndless(rest.length)
    yield* lines
  }
}

function refuseEndless(size: number): void {
  if (size > MOST_OF_EVENT)
    throw new Error(`an event of the stream is longer than ${MOST_OF_EVENT} characters`)
}

async function connectAgain(
  connect: () => Promise<Chunks>,
  signal: AbortSignal | undefined,
): Promise<Chunks> {
  const deadline = performance.now() + RESUME_WITHIN_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    try {
      return await connect()
    } catch (cause) {
      if (signal?.aborted === true || !isPassing(cause) || performance.now() > deadline) throw cause
    }
    await pause(pauseMs, signal)
  }
}

/** A retry may succeed. */
function isPassing(cause: unknown): boolean {
  return !(cause instanceof ApiError) || cause.status === 429 || cause.status >= 500
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error) // the caller or the platform aborts with an Error
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted === true) end()
    signal?.addEventListener('abort', end, { once: true })
  })
}

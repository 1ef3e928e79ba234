import { requestHeader } from '../contract/browser-session.ts'
import type { FormFile, Operation, Output, Pieces, Sent } from '../contract/operation.ts'
import { readApiError } from './api-error.ts'
import { followStream } from './follow-stream.ts'
import type { Chunks, StreamTransport } from './stream-transport.ts'

/** Sends one request. Implementations: fetch below, a Unix socket in the server. */
export type Transport = (request: {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** A file is sent in pieces, without a length. */
  readonly body?: string | Pieces
  readonly signal?: AbortSignal
}) => Promise<Answered>

/** A raw answer. */
export interface Answered {
  readonly status: number
  readonly text: string
  /** The header X-Next-Cursor; absent: last page, or not read by the transport. */
  readonly nextCursor?: string | undefined
  /** The header Retry-After of a temporary refusal; absent: none, or not read by the transport. */
  readonly retryAfterSeconds?: number
  /** Spans of an agent or a proxy, if the request was traced. */
  readonly spans?: string
}

/**
 * A function for each operation that takes params, query and body, and returns the answer. Throws ApiError.
 */
export type Client<Operations extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof Operations]: ((
    input: Sent<Operations[Name]>,
    options?: { readonly signal?: AbortSignal },
  ) => Answer<Operations[Name]>) &
    Pages<Operations[Name]>
}
/** `pages` yields the answer and the following pages, each on demand. The query has a limit. */
type Pages<Op extends Operation> = Op extends { readonly paged: true }
  ? {
      readonly pages: (
        input: Sent<Op>,
        options?: { readonly signal?: AbortSignal },
      ) => AsyncIterable<Output<Op>>
    }
  : unknown
/** A broken stream is resumed automatically; see followStream for its errors. */
type Answer<Op extends Operation> = Op extends { readonly stream: true }
  ? AsyncIterable<Output<Op>>
  : Promise<Output<Op>>

/**
 * Creates a typed client of `operations`, one function each, without generated code.
 *
 * Calls `token` before each request for renewal. Throws ApiError for error answers, and the transport's error
 * without one. Streams need `streamTransport`.
 */
export function createClient<Operations extends Readonly<Record<string, Operation>>>(
  operations: Operations,
  transport: Transport,
  token?: () => string | undefined,
  streamTransport?: StreamTransport,
): Client<Operations> {
  const authorization = () => {
    const bearer = token?.()
    return bearer === undefined ? undefined : { authorization: `Bearer ${bearer}` }
  }
  const follow = (op: Operation) => (input: Parts, options?: { readonly signal?: AbortSignal }) => {
    if (streamTransport === undefined) throw new Error('this client was made without a transport for streams')
    return followStream(async (last) => {
      const { status, chunks } = await streamTransport({
        path: fillPath(op.path, input),
        headers: {
          accept: 'text/event-stream',
          ...(last !== undefined && { 'last-event-id': last }),
          ...authorization(),
        },
        ...(options?.signal && { signal: options.signal }),
      })
      if (status === 200) return chunks
      throw readApiError(`${op.method} ${op.path}`, status, await textOf(chunks))
    }, options?.signal)
  }
  const ask =
    (op: Operation) =>
    async (input: Parts, options?: { readonly signal?: AbortSignal }): Promise<Asked> => {
      const { status, text, nextCursor } = await transport({
        method: op.method,
        path: fillPath(op.path, input),
        headers: {
          accept: 'application/json',
          [requestHeader.name]: requestHeader.value,
          ...contentType(op),
          ...(op.planned === true && input.basis !== undefined && { 'if-match': `"${input.basis}"` }),
          ...authorization(),
        },
        ...bodyOf(op, input),
        ...(options?.signal && { signal: options.signal }),
      })
      if (status === 200) return { answer: JSON.parse(text), nextCursor }
      throw readApiError(`${op.method} ${op.path}`, status, text)
    }
  const call = (op: Operation) => {
    const asked = ask(op)
    const one = async (...sent: Parameters<typeof asked>) => (await asked(...sent)).answer
    return op.paged === true ? Object.assign(one, { pages: pagesOf(asked) }) : one
  }
  // Each function has its operation's name, so the mapped type is right.
  return Object.fromEntries(
    Object.entries(operations).map(([name, op]) => [name, op.stream === true ? follow(op) : call(op)]),
  ) as unknown as Client<Operations>
}

/** Missing in the types of browsers. */
function streamFrom(pieces: Pieces): ReadableStream {
  const known = ReadableStream as unknown as { from(iterable: Pieces): ReadableStream }
  return known.from(pieces)
}

/** Speaks HTTP to `baseUrl` with fetch. Each request times out after `timeoutMs`. */
export function fetchTransport(baseUrl: string, timeoutMs = 10_000): Transport {
  return async ({ method, path, headers, body, signal }) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers,
      ...(typeof body === 'string' && { body }),
      ...(typeof body === 'object' && { body: streamFrom(body), duplex: 'half' }),
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    const nextCursor = response.headers.get('x-next-cursor') ?? undefined
    return { status: response.status, text: await response.text(), nextCursor }
  }
}

interface Asked {
  readonly answer: unknown
  readonly nextCursor: string | undefined
}

function pagesOf(ask: (input: Parts, options?: { readonly signal?: AbortSignal }) => Promise<Asked>) {
  return async function* (input: Parts, options?: { readonly signal?: AbortSignal }) {
    for (let query = input.query; ; ) {
      const { answer, nextCursor } = await ask({ ...input, ...(query && { query }) }, options)
      yield answer
      if (nextCursor === undefined) return
      // The cursor replaces the offset.
      const { offset: _, ...others } = query ?? {}
      query = { ...others, cursor: nextCursor }
    }
  }
}

interface Parts {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly file?: Pieces
  readonly basis?: string
}

function contentType({ body, upload }: Operation): Readonly<Record<string, string>> {
  if (body !== undefined) return { 'content-type': 'application/json' }
  if (upload === undefined) return {}
  return { 'content-type': upload === 'octets' ? 'application/octet-stream' : formType }
}

function bodyOf({ body, upload }: Operation, input: Parts): { readonly body?: string | Pieces } {
  if (body !== undefined) return { body: JSON.stringify(input.body ?? {}) }
  if (upload === undefined || input.file === undefined) return {}
  return { body: upload === 'octets' ? input.file : formWith(upload, input.file) }
}

function fillPath(path: string, { params = {}, query = {} }: Parts): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return search === '' ? filled : `${filled}?${search}`
}

/** An error is short, so the beginning of an endless one suffices. */
async function textOf(chunks: Chunks): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    if (text.length > 1 << 16) break
  }
  return text
}

/** Must not occur in a file, which would end there. It is random, and too long to occur by chance. */
const BOUNDARY = `fairlead-${crypto.randomUUID()}`

/** Content-Type of the result of `formWith`. */
const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** A form with one file only. */
async function* formWith({ field, mediaType }: FormFile, file: Pieces): Pieces {
  yield text(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${field}"\r\nContent-Type: ${mediaType}\r\n\r\n`,
  )
  yield* file
  yield text(`\r\n--${BOUNDARY}--\r\n`)
}

const text = (line: string) => new TextEncoder().encode(line)

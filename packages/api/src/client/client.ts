import { requestHeader } from '../contract/browser-session.ts'
import type { Operation, Output, Pieces, Sent } from '../contract/operation.ts'
import { readApiError } from './api-error.ts'
import { followStream } from './follow-stream.ts'
import { formType, formWith } from './form-file.ts'
import type { Chunks, StreamTransport } from './stream-transport.ts'

/**
 * Sends one request to the server of the operations. Implementations: fetch below, a Unix socket in the
 * server.
 */
export type Transport = (request: {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** A file goes out piece by piece, without a length. */
  readonly body?: string | Pieces
  readonly signal?: AbortSignal
}) => Promise<Answered>

/** An answer as it came. */
export interface Answered {
  readonly status: number
  readonly text: string
  /** The header X-Next-Cursor; absent: nothing follows, or the transport does not read it. */
  readonly nextCursor?: string | undefined
  /** The header Retry-After of a refusal that passes; absent: none, or the transport does not read it. */
  readonly retryAfterSeconds?: number
  /** Of an agent or a proxy: spans of theirs, where the request was of a trace. */
  readonly spans?: string
}

/**
 * A function for each operation: it takes params, query and body, and answers as the operation does. It throws
 * ApiError for refusals.
 */
export type Client<Operations extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof Operations]: ((
    input: Sent<Operations[Name]>,
    options?: { readonly signal?: AbortSignal },
  ) => Answer<Operations[Name]>) &
    Pages<Operations[Name]>
}
/** `pages`: the answer, and those that follow it, each when the one before has been dealt with. The query has a limit. */
type Pages<Op extends Operation> = Op extends { readonly paged: true }
  ? {
      readonly pages: (
        input: Sent<Op>,
        options?: { readonly signal?: AbortSignal },
      ) => AsyncIterable<Output<Op>>
    }
  : unknown
/** A stream is resumed by itself where it broke off; see followStream for what it throws. */
type Answer<Op extends Operation> = Op extends { readonly stream: true }
  ? AsyncIterable<Output<Op>>
  : Promise<Output<Op>>

/**
 * A typed client of `operations`: one function an operation, no generated code.
 *
 * `token` is asked for before each request, so that it may be renewed. Throws ApiError on an error answer, and what
 * the transport throws when there is no answer. Operations that answer a stream need `streamTransport`.
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
  // Each function is made from the operation of the same name, so the mapped type holds.
  return Object.fromEntries(
    Object.entries(operations).map(([name, op]) => [name, op.stream === true ? follow(op) : call(op)]),
  ) as unknown as Client<Operations>
}

/** The types of browsers do not have it yet. */
function streamFrom(pieces: Pieces): ReadableStream {
  const known = ReadableStream as unknown as { from(iterable: Pieces): ReadableStream }
  return known.from(pieces)
}

/** Speaks HTTP to `baseUrl` with fetch. Each request has `timeoutMs` to be answered. */
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
      // The cursor knows where it goes on.
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

/** An error is short: of what does not end, the beginning is enough. */
async function textOf(chunks: Chunks): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    if (text.length > 1 << 16) break
  }
  return text
}

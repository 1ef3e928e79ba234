import {
  type Answered,
  createClient,
  fetchStreamTransport,
  operations,
  type StreamTransport,
  type Transport,
} from '@fairlead/api'
import { hearServerTime } from './clock.ts'
import { hear, loseStream } from './live-state.ts'

/** A dry run really starts the target, which may load modules. */
const ANSWER_WITHIN_MS = 60_000

/** Calls this server with the session's cookie. */
const transport: Transport = async ({ method, path, headers, body, signal }): Promise<Answered> => {
  const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const response = await fetch(path, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : await gather(body) }),
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  })
  hearServerTime(response.headers.get('date'))
  return {
    status: response.status,
    text: await response.text(),
    nextCursor: response.headers.get('x-next-cursor') ?? undefined,
  }
}

/** Gathers a body, because browsers can stream one over HTTP/2 only. Packages are small enough. */
async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Blob> {
  const all: BlobPart[] = []
  for await (const piece of pieces) all.push(piece.slice())
  return new Blob(all)
}

const streams = fetchStreamTransport(location.origin)

/** Also records what arrives, including the line every 15 seconds on a quiet stream. */
const watchedStreams: StreamTransport = async (request) => {
  try {
    const { status, chunks } = await streams(request)
    return { status, chunks: status === 200 ? watched(chunks) : chunks }
  } catch (cause) {
    loseStream()
    throw cause
  }
}

async function* watched(chunks: AsyncIterable<string>): AsyncIterable<string> {
  hear()
  try {
    for await (const chunk of chunks) {
      hear()
      yield chunk
    }
  } finally {
    loseStream()
  }
}

/** The API of this server. */
export const api = createClient(operations, transport, undefined, watchedStreams)

/** Changes an expired password, which begins no session. */
export async function changePassword(username: string, old: string, next: string): Promise<void> {
  const pair = String.fromCodePoint(...new TextEncoder().encode(`${username}:${old}`))
  const authorization = `Basic ${btoa(pair)}`
  const withPassword: Transport = (request) =>
    transport({ ...request, headers: { ...request.headers, authorization } })
  await createClient(operations, withPassword).setPassword({ body: { new_password: next } })
}

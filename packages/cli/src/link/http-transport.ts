import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Answered, StreamTransport, Transport } from '@fairlead/api/lean'

/** A list of ten thousand databases needs a third of this. */
const MOST_BYTES = 64 << 20
/** The server sends something every 15 seconds, even if nothing happens. */
const IDLE_MS = 45_000

/** Sends requests to one place; each times out after `withinMs`. Throws the connection's error unchanged. */
export function httpTransport(place: Place, withinMs: number): Transport {
  return async ({ method, path, headers, body, signal }) => {
    const deadline = AbortSignal.timeout(withinMs)
    try {
      const sent = await beginRequest(place, {
        method,
        path,
        headers,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      })
      const answered = headOf(sent)
      await send(sent, body, answered)
      return await readAnswer(await answered)
    } catch (cause) {
      // Node only reports an abort, or a reset connection.
      throw deadline.aborted && signal?.aborted !== true ? deadline.reason : cause
    }
  }
}

async function send(
  sent: ClientRequest,
  body: Parameters<Transport>[0]['body'],
  answered: Promise<IncomingMessage>,
): Promise<void> {
  if (typeof body !== 'object') {
    sent.end(body)
    return
  }
  const { pipeline } = await import('node:stream/promises')
  // A server may answer and close before it has read the whole file: the answer counts.
  await Promise.race([pipeline(body, sent).catch(() => undefined), answered])
}

/** The head of a possible stream. */
export interface StreamAnswer {
  readonly status: number
  readonly chunks: AsyncIterable<string>
  /** Media type. */
  readonly type: string
  /** Closes the connection: unread data would keep this process alive. */
  close(): void
}

/** Follows streams at one place. */
export function httpStreamTransport(
  place: Place,
): (...asked: Parameters<StreamTransport>) => Promise<StreamAnswer> {
  return async ({ path, headers, signal }) => {
    const sent = await beginRequest(place, { method: 'GET', path, headers, ...(signal && { signal }) })
    sent.setTimeout(IDLE_MS, () => sent.destroy(new Error(`nothing was heard for ${IDLE_MS} ms`)))
    sent.end()
    const response = await headOf(sent)
    response.setEncoding('utf8')
    const { 'content-type': type = '' } = response.headers
    return {
      status: response.statusCode ?? 0,
      chunks: response as AsyncIterable<string>, // due to its encoding
      type,
      close: () => response.destroy(),
    }
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answered> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MOST_BYTES) throw new Error(`its answer is longer than ${MOST_BYTES} bytes`)
    pieces.push(piece)
  }
  const { 'x-next-cursor': next, 'retry-after': retryAfter } = response.headers
  return {
    status: response.statusCode ?? 0,
    text: Buffer.concat(pieces).toString(),
    nextCursor: typeof next === 'string' ? next : undefined,
    ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) || 1 }),
  }
}

/** The target of requests: an address with the certificates to verify it, or a Unix socket. */
export type Place =
  | { readonly url: string; readonly ca?: string | undefined }
  | { readonly socketPath: string }

/** Begins a request without a deadline. Loads only the needed modules: TLS takes a while. */
export async function beginRequest(
  place: Place,
  options: Pick<RequestOptions, 'method' | 'path' | 'headers' | 'signal'>,
): Promise<ClientRequest> {
  if ('socketPath' in place) {
    const { request } = await import('node:http')
    return request({ ...options, socketPath: place.socketPath })
  }
  const { protocol, hostname, port } = new URL(place.url)
  const where = { ...options, host: hostname.replace(/^\[|\]$/g, ''), ...(port !== '' && { port }) }
  if (protocol === 'https:') {
    const { request } = await import('node:https')
    return request({ ...where, ...(place.ca !== undefined && { ca: place.ca }) })
  }
  const { request } = await import('node:http')
  return request(where)
}

/** The head of the answer. Rejects with the connection's error. */
export function headOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.once('upgrade', (_response, stream) => {
      stream.destroy()
      reject(new Error('its answer is of another protocol (101)'))
    })
  })
}

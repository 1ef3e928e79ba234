import { type IncomingMessage, request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Transport } from '@fairlead/api'
import { countPieces, SPANS_HEADER } from '@fairlead/engine'

/** A report of ten thousand shards needs a fifth of this. */
const MOST_BYTES = 64 << 20

/**
 * Speaks HTTP through a Unix socket. Throws the result of `unreachable` without an answer within `withinMs`,
 * or for one over `mostBytes` (default 64 MB). The other process is not trusted: like the proxy, it may serve
 * unknown clients.
 */
export function socketTransport(
  socketPath: string,
  {
    withinMs,
    unreachable,
    mostBytes = MOST_BYTES,
  }: {
    readonly withinMs: number
    readonly unreachable: (cause: Error) => Error
    readonly mostBytes?: number
  },
): Transport {
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const deadline = AbortSignal.timeout(withinMs)
      const fail = (cause: Error) =>
        reject(unreachable(deadline.aborted ? new Error(`no answer within ${withinMs} ms`) : cause))
      const sent = request(
        {
          socketPath,
          method,
          path,
          headers,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        },
        (response) => {
          readText(response, mostBytes).then(
            (text) => resolve({ status: response.statusCode ?? 0, text, ...spansIn(response) }),
            fail,
          )
        },
      )
      sent.on('error', fail)
      // It switches to another protocol (101) uninvited: without this, even the deadline would not end the
      // request.
      sent.on('upgrade', (_response, stream) => {
        stream.destroy()
        fail(new Error('its answer is of another protocol (101)'))
      })
      if (typeof body === 'object') pipeline(body, sent).catch(fail)
      else sent.end(body)
    })
}

function spansIn({ headers }: IncomingMessage): { readonly spans?: string } {
  const { [SPANS_HEADER]: spans } = headers
  return typeof spans === 'string' ? { spans } : {}
}

function readText(response: IncomingMessage, mostBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const areTooMany = countPieces()
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (areTooMany(chunk.length)) response.destroy(new Error('its answer comes in too small pieces'))
      else if (bytes > mostBytes) response.destroy(new Error(`its answer is longer than ${mostBytes} bytes`))
      else chunks.push(chunk)
    })
    response.on('error', reject)
    response.on('end', () => resolve(Buffer.concat(chunks).toString()))
  })
}

import { request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Transport } from '@fairlead/api'

/**
 * Speaks HTTP through a Unix socket. Each request has `withinMs` to be answered; where there is no answer, what
 * `unreachable` makes of the cause is thrown.
 */
export function socketTransport(
  socketPath: string,
  { withinMs, unreachable }: { readonly withinMs: number; readonly unreachable: (cause: Error) => Error },
): Transport {
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const fail = (cause: Error) => reject(unreachable(cause))
      const deadline = AbortSignal.timeout(withinMs)
      const sent = request(
        {
          socketPath,
          method,
          path,
          headers,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', fail)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      sent.on('error', fail)
      if (typeof body === 'object') pipeline(body, sent).catch(fail)
      else sent.end(body)
    })
}

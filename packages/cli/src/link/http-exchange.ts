import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'

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

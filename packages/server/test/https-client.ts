import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Answer } from './control-plane.ts'

/** One connection of HTTP/1.1 over TLS that trusts `ca` only. */
export interface HttpsClient extends Disposable {
  /** Sends one request, and reads its answer. Throws when the connection breaks. */
  send(
    method: string,
    path: string,
    options?: { readonly auth?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<Answer>
  /** How many connections it has made. */
  readonly connections: number
}

export function httpsClient(port: number, ca: string): HttpsClient {
  let connections = 0
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, maxCachedSessions: 0 })
  const createConnection = agent.createConnection.bind(agent)
  agent.createConnection = (...args) => {
    connections += 1
    return createConnection(...args)
  }
  return {
    get connections() {
      return connections
    },
    async send(method, path, { auth, body, headers } = {}) {
      const sent = request({
        agent,
        host: '127.0.0.1',
        servername: 'localhost',
        port,
        method,
        path,
        headers: {
          ...(auth !== undefined && { authorization: auth }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      const [response] = await once(sent, 'response')
      let text = ''
      for await (const chunk of response) text += chunk
      return {
        status: response.statusCode,
        headers: new Headers(response.headers),
        body: JSON.parse(text),
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** A connection whose handshake has ended. Throws when it fails. */
export async function dial(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ...options })
  await once(socket, 'secureConnect')
  return socket
}

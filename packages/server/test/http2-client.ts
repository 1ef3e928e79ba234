import { once } from 'node:events'
import type { SecureClientSessionOptions } from 'node:http2'
import { type ClientHttp2Session, type ClientSessionOptions, connect } from 'node:http2'
import type { Answer } from './control-plane.ts'

/** One connection of HTTP/2 over TLS. */
export interface Http2Client extends Disposable {
  readonly session: ClientHttp2Session
  /** Sends one request, and reads its answer. Throws when the stream or the connection breaks. */
  send(
    method: string,
    path: string,
    options?: { readonly auth?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<Answer & { readonly text: string }>
  /** Resolves when the connection has ended, with the code of the server's GOAWAY, if it sent one. */
  readonly ended: Promise<number | undefined>
}

/** Resolves when the connection is open. `options` may have `rejectUnauthorized: false`. */
export async function http2Client(
  port: number,
  options: ClientSessionOptions & SecureClientSessionOptions,
): Promise<Http2Client> {
  const session = connect(`https://localhost:${port}`, { host: '127.0.0.1', ...options })
  let lastWord: number | undefined
  session.on('goaway', (code) => {
    lastWord = code
  })
  session.on('error', () => undefined)
  const ended = new Promise<number | undefined>((resolve) => session.once('close', () => resolve(lastWord)))
  await once(session, 'connect')
  return {
    session,
    ended,
    async send(method, path, { auth, body, headers } = {}) {
      const stream = session.request({
        ...{ ':method': method, ':path': path },
        ...(auth !== undefined && { authorization: auth }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      })
      stream.end(body === undefined ? undefined : JSON.stringify(body))
      const [seen] = await once(stream, 'response')
      let text = ''
      for await (const chunk of stream.setEncoding('utf8')) text += chunk
      const { ':status': status, ...rest } = seen
      const known = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)])
      return { status, headers: new Headers(known), text, body: text === '' ? {} : JSON.parse(text) }
    },
    [Symbol.dispose]: () => session.destroy(),
  }
}

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** A request of which the head has been sent, and not the body. */
export interface HalfSent {
  /** Sends the body. Answers the status of the response. */
  finish(): Promise<number>
}

/** Sends the head of a request to a Unix socket, as a server does that is stopped at that moment. */
export async function sendHead(
  socketPath: string,
  { method, path }: { readonly method: string; readonly path: string },
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<HalfSent> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  const json = JSON.stringify(body)
  const length = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) }
  const lines = Object.entries({ host: 'x', connection: 'close', ...length, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // The other side has read the head when it answers later requests; this ensures that the head is sent.
  await pause(0)
  return {
    async finish() {
      const answer = text(socket)
      socket.write(json)
      return Number(/^HTTP\/1\.1 (\d+)/.exec(await answer)?.[1])
    },
  }
}

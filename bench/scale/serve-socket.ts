import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'

/**
 * Answers a request. Undefined: the request is for the socket `behind`, and its body was not read. If the
 * body was read, the request goes on as `behind`.
 */
export type Answer = (request: {
  readonly method: string
  readonly path: string
  body(): Promise<string>
}) => Promise<string | { readonly behind: string } | undefined>

/** Answers as the engine at the end of a simulated tunnel, with the headers of the answer. */
export type Tunnel = (
  path: string,
) => Promise<{ speak(socket: Socket): void; readonly headers: readonly string[] } | undefined>

/**
 * HTTP on a Unix socket. A request for which `answer` has no answer is forwarded to the socket `behind`, and
 * the answer of that socket is returned.
 */
export async function serveSocket(
  path: string,
  behind: string,
  answer: Answer,
  tunnel: Tunnel = async () => undefined,
): Promise<AsyncDisposable> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const server = createServer((incoming, response) => {
    serve(incoming, response, behind, answer).catch((cause: unknown) => {
      process.stderr.write(`simulated agent: ${incoming.method} ${incoming.url}: ${String(cause)}\n`)
      response.destroy()
    })
  })
  server.on('upgrade', (incoming, socket, head) => {
    serveTunnel(incoming, socket as Socket, { head, behind, tunnel }).catch(() => void socket.destroy())
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, resolve)
  await promise
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  behind: string,
  answer: Answer,
): Promise<void> {
  const { method = '', url: path = '' } = incoming
  const text = await answer({ method, path, body: () => textOf(incoming) })
  if (typeof text === 'string') return void response.setHeader('content-type', 'application/json').end(text)
  const { headers } = incoming
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onward = request({ socketPath: behind, method, path, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 500, answered.headers)
    answered.pipe(response).once('finish', resolve).once('error', reject)
  })
  response.once('close', () => {
    if (!response.writableFinished) onward.destroy()
    resolve()
  })
  onward.once('error', reject)
  if (text === undefined) incoming.pipe(onward)
  else onward.end(text.behind)
  await promise
}

/** Opens a tunnel to a simulated engine; any other tunnel is opened at the socket `behind`. */
async function serveTunnel(
  { method, url = '', rawHeaders }: IncomingMessage,
  socket: Socket,
  { head, behind, tunnel }: { readonly head: Buffer; readonly behind: string; readonly tunnel: Tunnel },
): Promise<void> {
  const own = await tunnel(url)
  if (own !== undefined) {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${own.headers.join('\r\n')}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    own.speak(socket)
    return
  }
  const onward = connect(behind)
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ] as const)
    one.on('error', () => undefined).once('close', () => void other.destroy())
  const headers = rawHeaders.map((word, n) => (n % 2 === 0 ? `${word}: ` : `${word}\r\n`)).join('')
  onward.write(`${method} ${url} HTTP/1.1\r\n${headers}\r\n`)
  onward.write(head)
  socket.pipe(onward)
  onward.pipe(socket)
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer) // a request without an encoding gives buffers
  return Buffer.concat(chunks).toString()
}

/** The text of an answer to a GET. Throws for any status but 200. */
export async function getText(socketPath: string, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ socketPath, path }, resolve).once('error', reject).end()
  const response = await promise
  const text = await textOf(response)
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return text
}

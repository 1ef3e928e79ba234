import { once } from 'node:events'
import { connect, createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, type ProxyState, proxyOperations } from '@fairlead/api'
import { signalProcess } from '../src/process/process-identity.ts'
import { proxyFolder } from '../src/proxy/proxy-folder.ts'
import { makeHome, ownPort, socketTransport, type TestHome, until } from './agent-home.ts'

const main = fileURLToPath(new URL('../../proxy/src/main.ts', import.meta.url))
export const proxyProgram = [process.execPath, '--conditions=@fairlead/source', main]

export interface ProxyHome extends TestHome {
  readonly folder: ReturnType<typeof proxyFolder>
  proxyBecomes(wanted: Partial<ProxyState>, withinMs?: number): Promise<ProxyState>
  /** Returns the port. */
  putEndpoint(database: { readonly port: number }): Promise<number>
}

/** A home. Disposing of it ends its proxy, too. */
export async function makeProxyHome(): Promise<ProxyHome> {
  const home = await makeHome()
  const folder = proxyFolder(home.path)
  return {
    ...home,
    folder,
    async proxyBecomes(wanted, withinMs = 60_000) {
      let seen: ProxyState | undefined
      const fits = async () => {
        seen = (await home.client.reportNode({})).proxy
        return Object.entries(wanted).every(([name, value]) => seen?.[name as keyof ProxyState] === value)
      }
      await until(fits, { withinMs, what: () => `${JSON.stringify({ wanted, seen })}\n${home.logged()}` })
      if (!seen) throw new Error('unreachable')
      return seen
    },
    async putEndpoint({ port: upstream }) {
      const port = await ownPort()
      const client = createClient(proxyOperations, socketTransport(folder.socket))
      const body = { host: '127.0.0.1', port, upstream: { host: '127.0.0.1', port: upstream } }
      await client.putEndpoint({
        params: { id: 'bdb-1' },
        body: { ...body, shards: null, tls: null, upstreamTls: null },
      })
      return port
    },
    async [Symbol.asyncDispose]() {
      for (let left = folder.find(); left !== null; left = folder.find()) {
        signalProcess(left, 'SIGKILL')
        await delay(5)
      }
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Answers each piece that comes as an engine answers PING. */
export function echoServer(): Promise<{ readonly port: number } & AsyncDisposable> {
  return listen(
    createTcpServer(
      (socket) => void socket.on('data', () => socket.write('+PONG\r\n')).on('error', () => socket.destroy()),
    ),
  )
}

async function listen(server: Server): Promise<{ readonly port: number } & AsyncDisposable> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      if (server.listening) server.close()
    },
  }
}

export interface Dialed extends AsyncDisposable {
  /** The local address of the connection, as the proxy knows it. */
  readonly address: string
  send(text: string): void
  /** Sends PING, and resolves with the next text that comes. */
  ask(): Promise<string>
  /** All text that has come. */
  text(): string
}

export async function dial(port: number): Promise<Dialed> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  socket.on('error', () => socket.destroy())
  return {
    address: `127.0.0.1:${socket.localPort}`,
    send: (words) => void socket.write(words),
    text: () => text,
    async ask() {
      socket.write('PING\r\n')
      const [bytes] = (await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer]
      return bytes.toString()
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}

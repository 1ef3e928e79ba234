import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, createServer, get, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { expect, test } from 'vitest'
import {
  boundConnections,
  connectionLimits,
  mostByFiles,
} from '../../../../src/http/connections/bound-connections.ts'
import { adminPassword, startControlPlane } from '../../../control-plane.ts'

async function serve(most: number) {
  const held: ServerResponse[] = []
  const warned: string[] = []
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(response)
    else response.end('served')
  })
  boundConnections(server, {
    most,
    log: { warn: (_: unknown, text?: string) => void warned.push(text ?? '') },
    sourceOf: ({ remoteAddress = '' }) => remoteAddress,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const count = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)))
  const strangers: Socket[] = []
  return {
    ...{ held, port, warned, count },
    /** A connection that begins a request and does not end it. */
    async come(text: string): Promise<Socket> {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      strangers.push(socket)
      await once(socket, 'connect')
      socket.write(text)
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of strangers) socket.destroy()
      server.closeAllConnections()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

function ask(port: number, path: string, localAddress = '127.0.0.1'): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  get({ port, host: '127.0.0.1', localAddress, path, agent: false }, (response) => {
    response.setEncoding('utf8').on('data', resolve)
  }).on('error', reject)
  return promise
}

const unfinished = ['', 'GET / HTTP/1.1\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf']

test('a client is served however many connections send no whole request, and the number of connections is bounded', async () => {
  await using server = await serve(10)
  const slow = ask(server.port, '/held')
  await expect.poll(() => server.held.length).toBe(1)
  for (let n = 0; n < 60; n += 1) {
    await server.come(unfinished[n % 3] ?? '')
    if (n % 20 === 19) expect(await ask(server.port, '/')).toBe('served')
  }
  await expect.poll(server.count).toBeLessThanOrEqual(10)
  // The connection whose request was complete was not closed to make room.
  server.held[0]?.end('late')
  expect(await slow).toBe('late')
  expect(server.warned).toHaveLength(1)
})

test('if all connections are being served, the new one is closed, and the others are not', async () => {
  await using server = await serve(6)
  const { mostOfSource } = connectionLimits(6)
  const slow = Array.from({ length: mostOfSource }, () => ask(server.port, '/held'))
  await expect.poll(() => server.held.length).toBe(mostOfSource)
  // Another source still gets a place.
  expect(await ask(server.port, '/', '127.0.0.2')).toBe('served')
  await expect(ask(server.port, '/')).rejects.toThrow()
  for (const response of server.held) response.end('late')
  expect(await Promise.all(slow)).toEqual(slow.map(() => 'late'))
  expect(await ask(server.port, '/')).toBe('served')
})

test('half of the files that are not reserved are for connections', () => {
  expect([1_024, 4_096, 524_288, 100].map(mostByFiles)).toEqual([362, 1_898, 4_096, 16])
})

// invariant: Connections to the API leave the server the files that it needs.
test('5,000 idle and slow connections from one source neither take all files nor the connection of a client that has signed in', async () => {
  await using fairlead = await startControlPlane({ mostConnections: 400 })
  const token = await fairlead.signIn('admin', adminPassword)
  const port = Number(new URL(fairlead.url).port)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const files = () => readdirSync('/proc/self/fd').length
  const before = files()
  const used = new Set<number>()
  const work = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const headers = { authorization: token, host: 'localhost' }
    const request = get({ port, host: '127.0.0.1', path: '/v1/users', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    }).on('error', reject)
    expect(await promise).toBe(200)
    used.add(request.socket?.localPort ?? 0)
  }
  await work()
  const strangers = new Set<Socket>()
  for (let n = 0; n < 5_000; n += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.resume().on('close', () => strangers.delete(socket))
    strangers.add(socket)
    await once(socket, 'connect')
    if (n % 2 === 0) socket.write(unfinished[(n / 2) % 3] ?? '')
    if (n % 250 === 0) await work()
  }
  await work()
  // Both ends of each are in this process.
  await expect.poll(() => files() - before).toBeLessThan(2 * 400)
  // A connection is there for its client before the server has accepted it, and closed another one for it.
  await expect.poll(() => strangers.size).toBeLessThanOrEqual(connectionLimits(400).mostOfSource)
  expect(used.size).toBe(1)
  for (const socket of strangers) socket.destroy()
  agent.destroy()
})

test('signed-in users have places of their own, and strangers have theirs', () => {
  expect([4_096, 400, 16].map(connectionLimits)).toEqual([
    { most: 4_096, mostStrangers: 3_072, mostOfSource: 2_048 },
    { most: 400, mostStrangers: 300, mostOfSource: 200 },
    { most: 16, mostStrangers: 12, mostOfSource: 8 },
  ])
})

test('it is told once that the first request of a user has come on a connection', () => {
  const bounds = boundConnections(createServer(), { most: 100, log: { warn: () => undefined } })
  const [raw, secured] = [new Socket(), new Socket()]
  let told = 0
  bounds.admit(raw)
  bounds.handOver(raw, secured, () => {
    told += 1
  })
  expect(told).toBe(0)
  for (const user of [7, 7, 8]) bounds.signedIn(secured, user)
  expect(told).toBe(1)
})

test('the real server has these bounds, and closes connections that send no headers', async () => {
  await using fairlead = await startControlPlane({ mostConnections: 20 })
  const admin = await fairlead.signIn('admin', adminPassword)
  const sockets: Socket[] = []
  const closed = new Set<Socket>()
  for (let n = 0; n < 60; n += 1) {
    const socket = connect(Number(new URL(fairlead.url).port), '127.0.0.1').on('error', () => undefined)
    socket.resume().on('close', () => closed.add(socket))
    sockets.push(socket)
    await once(socket, 'connect')
  }
  await expect.poll(() => closed.size).toBeGreaterThanOrEqual(40)
  expect((await fairlead.send('GET', '/v1/users', { auth: admin })).status).toBe(200)
  // All other connections are closed.
  await expect.poll(() => closed.size, { interval: 200 }).toBe(60)
})

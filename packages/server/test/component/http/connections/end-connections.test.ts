import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { until, untilClosed } from '../../../../../../proof/until.ts'
import { endConnections, watchConnections } from '../../../../src/http/connections/connections.ts'
import { createHttp } from '../../../../src/http/create-http.ts'

const half = {
  nothing: '',
  'half of a head': 'POST /slow HTTP/1.1\r\nHost: local',
  'half of a body': 'POST /slow HTTP/1.1\r\nHost: localhost\r\ncontent-length: 9\r\n\r\n{"a"',
}

async function connectTo(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

/** A server whose requests are answered when `answer` is called. */
async function serve() {
  const [answer, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const http = createHttp({
    identify: () => {
      throw new Error('no operation is here')
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  http.post('/slow', { config: {} }, async () => {
    begun.resolve()
    await answer.promise
    return { isAnswered: true }
  })
  const port = Number(new URL(await http.listen({ host: '127.0.0.1', port: 0 })).port)
  return { http, port, answer: answer.resolve, begun: begun.promise }
}

test.each(Object.entries(half))(
  'a server that stops does not wait for a connection with %s',
  { timeout: 30_000 },
  async (_, text) => {
    const { http, port } = await serve()
    const { promise: taken, resolve } = Promise.withResolvers<Socket>()
    http.server.on('connection', resolve)
    await connectTo(port, text)
    const socket = await taken
    await until('it has come', () => socket.bytesRead === text.length)
    await http.close()
  },
)

test('a whole request is answered by a server that stops, also when it takes longer than a half one is waited for', async () => {
  const { http, port, answer, begun } = await serve()
  const slow = fetch(`http://127.0.0.1:${port}/slow`, { method: 'POST' })
  await begun
  const other = await connectTo(port, half['half of a head'])
  await until('the server has it', async () => (await connections(http.server)) === 2)
  const closing = http.close()
  await untilClosed(other)
  answer()
  expect(await (await slow).json()).toEqual({ isAnswered: true })
  await closing
})

test('a client that sends a byte now and then, and one that reads nothing, keep no server from stopping', {
  timeout: 30_000,
}, async () => {
  const server = createServer((_, response) => response.end('x'.repeat(50_000_000)))
  const watched = watchConnections(server, { most: 10, log: pino({ level: 'silent' }) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { readonly port: number }
  const reader = await connectTo(port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  reader.pause()
  const slow = await connectTo(port, 'GET / HTTP/1.1\r\n')
  const sending = setInterval(() => slow.write('X'), 200)
  onTestFinished(() => clearInterval(sending))
  await until('the server has both', async () => (await connections(server)) === 2)
  await endConnections(watched, 2_500)
  await new Promise((resolve) => server.close(resolve))
})

test('a server stops within ten seconds, and without a fault, while a client sends a byte now and then', {
  timeout: 30_000,
}, async () => {
  const { http, port } = await serve()
  const slow = await connectTo(port, half['half of a body'].replace('9', '900'))
  const sending = setInterval(() => slow.write('X'), 200)
  onTestFinished(() => clearInterval(sending))
  await until('the server has it', async () => (await connections(http.server)) === 1)
  const began = performance.now()
  await http.close()
  expect(performance.now() - began).toBeLessThan(12_000)
})

function connections(server: {
  getConnections(done: (error: Error | null, count: number) => void): unknown
}) {
  return new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
}

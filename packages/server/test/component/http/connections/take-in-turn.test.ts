import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { MOST_OF_CONNECTION, takeInTurn } from '../../../../src/http/connections/take-in-turn.ts'

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const CHUNKED = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'

async function serve(listener: RequestListener, isKnown?: (socket: Socket) => boolean) {
  const server = createServer(listener)
  takeInTurn(server, isKnown)
  let accepted = 0
  server.on('connection', () => {
    accepted += 1
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, accepted: () => accepted }
}

async function come(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1')
  })
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return { socket, closed, heard: () => heard, statuses: () => heard.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [] }
}

test('of a connection that sends thousands of requests without waiting a few are answered, then it is told why and closed', async () => {
  let served = 0
  const { port } = await serve((_, response) => {
    served += 1
    response.end('x')
  })
  const few = await come(port)
  few.socket.write(GET.repeat(MOST_OF_CONNECTION))
  await until('they are answered', () => few.statuses().length === MOST_OF_CONNECTION)
  few.socket.write(GET)
  await until('the next one is, too', () => few.statuses().length === MOST_OF_CONNECTION + 1)

  served = 0
  const many = await come(port)
  many.socket.write(GET.repeat(MOST_OF_CONNECTION + 1))
  await many.closed
  expect(served).toBe(MOST_OF_CONNECTION)
  expect(many.statuses()).toEqual([...Array(MOST_OF_CONNECTION).fill('200'), '429'])
  expect(many.heard()).toContain('too_many_requests')

  served = 0
  const flood = await come(port)
  flood.socket.write(GET.repeat(20_000))
  await flood.closed
  // On a slow machine some of them still wait for their turn when the connection is cut.
  expect(served).toBeGreaterThan(0)
  expect(served).toBeLessThanOrEqual(MOST_OF_CONNECTION)
})

test('a request of a user who has signed in does not wait for those of hundreds of other connections, nor another connection for all of one', async () => {
  const order: string[] = []
  const known = new Set<number | undefined>()
  const { port, accepted } = await serve(
    (request, response) => {
      const { remotePort } = request.socket
      order.push(known.has(remotePort) ? 'user' : String(remotePort))
      const end = performance.now() + 1
      while (performance.now() < end);
      response.end('x')
    },
    ({ remotePort }) => known.has(remotePort),
  )
  const strangers = await Promise.all(Array.from({ length: 100 }, () => come(port)))
  const user = await come(port)
  known.add(user.socket.localPort)
  await until('all are accepted', () => accepted() === 101)
  for (const { socket } of strangers) socket.write(GET.repeat(MOST_OF_CONNECTION))
  await until('some are served', () => order.length > 0)
  const before = order.length
  user.socket.write(GET)
  await until('all are served', () => order.length === 100 * MOST_OF_CONNECTION + 1)
  expect(order.indexOf('user') - before).toBeLessThan(100)
  // Each connection once, before any has its last.
  expect(new Set(order.slice(0, order.length / 2)).size).toBeGreaterThan(100)
})

test('a body in pieces of a byte each is not read to its end, a long one in pieces of a usual size is', async () => {
  let read = 0
  let pieces = 0
  const { port } = await serve((request, response) => {
    request.on('error', () => undefined)
    request.on('data', (bytes: Buffer) => {
      read += bytes.length
      pieces += 1
    })
    request.on('end', () => response.end('x'))
  })
  const usual = await come(port)
  usual.socket.write(CHUNKED)
  for (let n = 0; n < 2_000; n += 1) usual.socket.write(`400\r\n${'a'.repeat(1_024)}\r\n`)
  usual.socket.write('0\r\n\r\n')
  await until('it is answered', () => usual.statuses().length === 1)
  expect(read).toBe(2_000 * 1_024)

  pieces = 0
  const small = await come(port)
  small.socket.write(CHUNKED + '1\r\na\r\n'.repeat(100_000))
  await small.closed
  expect(pieces).toBeLessThan(5_000)
})

test('a connection whose request is answered before the end of a chunked body is closed when the answer is there', async () => {
  const { port } = await serve((_, response) => void response.writeHead(401).end('x'))
  const client = await come(port)
  client.socket.write(`${CHUNKED}1\r\na\r\n`)
  await once(client.socket, 'end')
  expect(client.statuses()).toEqual(['401'])
  // One that has come whole leaves its connection open.
  const whole = await come(port)
  whole.socket.write(`${CHUNKED}1\r\na\r\n0\r\n\r\n`)
  await until('it is answered', () => whole.statuses().length === 1)
  whole.socket.write(GET)
  await until('the next one is, too', () => whole.statuses().length === 2)
})

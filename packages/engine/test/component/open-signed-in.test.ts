import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { EngineError, EngineUnreachable, openSignedIn } from '../../src/connection.ts'

/** Something that answers the first bytes of each connection, and keeps count of those that are open. */
async function serve(answer: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).once('close', () => open.delete(socket))
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  return { address, open, [Symbol.dispose]: () => void server.close() }
}

const login = { username: 'fairlead', password: 'secret' }
const never = new AbortController().signal

test('a socket that has signed in carries all that comes after the two answers, and nothing before', async () => {
  using engine = await serve((socket) => {
    socket.write('+OK\r\n+PO')
    setImmediate(() => socket.write('NG\r\n'))
  })
  const socket = await openSignedIn({ address: engine.address, login, withinMs: 5_000, signal: never })
  expect(socket.isPaused()).toBe(true)
  socket.setEncoding('utf8')
  const [other] = engine.open
  other?.write('+later\r\n')
  socket.resume()
  expect(await once(socket, 'data')).toEqual(['+later\r\n'])
  socket.destroy()
})

test.each([
  ['refuses the login', '-WRONGPASS no\r\n+PONG\r\n', EngineError],
  ['loads its data', '+OK\r\n-LOADING wait\r\n', EngineError],
  ['sends more than was asked for', '+OK\r\n+PONG\r\n+x\r\n', Error],
  ['sends a line without end', `-${'A'.repeat(1 << 20)}`, Error],
  ['announces a terabyte', '$999999999999\r\n', Error],
  ['sends bytes without a meaning', '%1\r\n+__proto__\r\n*1\r\n+x\r\n\0', Error],
] as const)('an engine that %s gets no connection, and none is left open', async (_, words, kind) => {
  using engine = await serve((socket) => socket.write(words))
  const opened = openSignedIn({ address: engine.address, login, withinMs: 5_000, signal: never })
  const cause: unknown = await opened.catch((thrown: unknown) => thrown)
  expect(cause).toBeInstanceOf(EngineUnreachable)
  expect(cause).toMatchObject({ cause: expect.any(kind) })
  await expect.poll(() => engine.open.size).toBe(0)
})

test('an engine that resets its connection at any moment gives no connection, and its error does not end this process', async () => {
  for (let n = 0; n < 60; n += 1) {
    // A new port each time: the owner of one that is known is proven in microseconds.
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      setTimeout(() => socket.resetAndDestroy(), n % 10)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
    // It would never answer: what was not noticed would be waited for until the test ends.
    const opened = openSignedIn({ address, login, withinMs: 3_600_000, signal: never })
    await expect(opened).rejects.toThrow('ECONNRESET')
    server.close()
  }
})

test('an engine that sends nothing is given up in time, and at once when the caller is gone', async () => {
  using engine = await serve(() => undefined)
  const { address } = engine
  const late = openSignedIn({ address, login, withinMs: 50, signal: never })
  await expect(late).rejects.toBeInstanceOf(EngineUnreachable)
  const gone = new AbortController()
  const opened = openSignedIn({ address, login, withinMs: 60_000, signal: gone.signal })
  await expect.poll(() => engine.open.size).toBe(1)
  gone.abort()
  await expect(opened).rejects.toBeInstanceOf(EngineUnreachable)
  await expect.poll(() => engine.open.size).toBe(0)
})

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createEngines } from './engines.ts'

test('several who need a connection to one shard at the same moment share one, and none is left open', async () => {
  const opened = new Set<Socket>()
  // It says what an engine says to a login.
  const server = createServer((socket) => {
    opened.add(socket)
    socket.once('close', () => opened.delete(socket))
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const shard = { id: 1, host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const connectThree = async () => {
    using engines = createEngines()
    const database = { adminPassword: 'secret' } as Parameters<typeof engines.connect>[0]
    const all = await Promise.all([1, 2, 3].map(() => engines.connect(database, shard)))
    return all.filter(({ usable }) => usable).map((connection) => all.indexOf(connection))
  }
  // A machine with too much to do may not connect in time; then nothing is proven, and none is left open either.
  await expect.poll(connectThree, { timeout: 20_000 }).toEqual([0, 0, 0])
  await expect.poll(() => opened.size, { timeout: 10_000 }).toBe(0)
  server.close()
})

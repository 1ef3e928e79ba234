import { execFile } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { connectEngine } from './connection.ts'

test('a connection that was refused keeps no process alive', async () => {
  const program = `
    import { connectEngine } from ${JSON.stringify(new URL('connection.ts', import.meta.url).href)}
    const address = { host: '127.0.0.1', port: ${await closedPort()} }
    await connectEngine({ address, login: { username: 'nobody', password: '' } }).catch(() => console.log('refused'))
    setTimeout(() => console.log('and still there'), 1_000).unref()
  `
  const args = ['--conditions=@fairlead/source', '--input-type=module', '--eval', program]
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('refused\n')
})

async function closedPort(): Promise<number> {
  const server = createServer()
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  const address = server.address()
  const closed = Promise.withResolvers<void>()
  server.close(() => closed.resolve())
  await closed.promise
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('a connection that is closed several times listens once for the end of its socket', async () => {
  const sockets = new Set<Socket>()
  // It says what an engine says to a login, and then nothing: it is stopped.
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const warnings: string[] = []
  const hear = ({ name }: Error) => void warnings.push(name)
  process.on('warning', hear)
  const { port } = server.address() as AddressInfo
  const connection = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'nobody', password: '' },
    connectTimeoutMs: 20_000,
  })
  for (let n = 0; n < 12; n += 1) connection[Symbol.dispose]()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', hear)
  for (const socket of sockets) socket.destroy()
  server.close()
  expect(warnings).toEqual([])
})

test('a connection that was not opened in time is not opened later', async () => {
  const opened: Socket[] = []
  const server = createServer((socket) => {
    opened.push(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const options = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    login: { username: 'nobody', password: '' },
  }
  // The threads that read files are busy, as on an overloaded machine: the owner of the port is not proven in
  // time.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 200_000, 64, 'sha512'))
  await expect(connectEngine({ ...options, connectTimeoutMs: 1 })).rejects.toThrow('no connection within')
  await Promise.all(busy)
  // A connection of the call before would be open before this one.
  using _ = await connectEngine({ ...options, connectTimeoutMs: 10_000 })
  expect(opened).toHaveLength(1)
  for (const socket of opened) socket.destroy()
  server.close()
})

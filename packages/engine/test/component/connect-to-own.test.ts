import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { connectToOwn, NotOurs } from '../../src/connect-to-own.ts'
import { ENGINE_USERS } from '../../src/engine-users.ts'
import { knowUsersOfPorts } from '../../src/users-of-ports.ts'

// Files of a worker share their modules: this one loads its own, with the mock, and the next file loads them
// anew.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())
const listed = vi.hoisted((): string[] => [])
vi.mock('node:fs/promises', async (original) => {
  const files = await original<typeof import('node:fs/promises')>()
  const readdir = (folder: string) => {
    listed.push(folder)
    return files.readdir(folder)
  }
  return { ...files, readdir }
})

async function listen(port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as { port: number }).port }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}

const drop = (socket: Socket) => void socket.destroy()

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('a listener of our own user is connected to, also after another process of ours has replaced it', async () => {
  const first = await listen()
  const address = { host: '127.0.0.1', port: first.port }
  drop(await connectToOwn(address, () => dial(address.port), drop))
  drop(await connectToOwn(address, () => dial(address.port), drop))
  await close(first.server)
  await expect(connectToOwn(address, () => dial(address.port), drop)).rejects.toThrow('ECONNREFUSED')
  const { server } = await listen(address.port)
  drop(await connectToOwn(address, () => dial(address.port), drop))
  await close(server)
})

test('a connection is not proven when its listener is another one than before, and is dropped', async () => {
  const first = await listen()
  const address = { host: '127.0.0.1', port: first.port }
  let second = first
  const opened: Socket[] = []
  const inBetween = async () => {
    await close(first.server)
    second = await listen(address.port)
    opened.push(await dial(address.port))
    return opened[0] as Socket
  }
  await expect(connectToOwn(address, inBetween, drop)).rejects.toThrow(NotOurs)
  expect(opened[0]?.destroyed).toBe(true)
  await close(second.server)
})

test('a listener of another user is not connected to', async () => {
  const { server, port } = await listen()
  const self = vi.spyOn(process, 'geteuid').mockReturnValue(4_711)
  const dialled = vi.fn(() => dial(port))
  await expect(connectToOwn({ host: '127.0.0.1', port }, dialled, drop)).rejects.toThrow(NotOurs)
  expect(dialled).not.toHaveBeenCalled()
  self.mockRestore()
  await close(server)
})

test('the engine of another shard is not connected to where the users of engines are known', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'users-'))
  const table = join(folder, 'users.json')
  using _known = knowUsersOfPorts(table)
  const { server, port, uid } = await listenAsEngine()
  const address = { host: '127.0.0.1', port }
  await writeFile(table, JSON.stringify({ [`127.0.0.1:${port}`]: [uid + 1] }))
  await expect(connectToOwn(address, () => dial(port), drop)).rejects.toThrow(NotOurs)
  await writeFile(table, JSON.stringify({ [`127.0.0.1:${port}`]: [uid] }))
  drop(await connectToOwn(address, () => dial(port), drop))
  await close(server)
  await rm(folder, { recursive: true })
})

test('however many connections to a new process begin at one moment, the processes of the machine are searched for it once', async () => {
  const { server, port } = await listen()
  listed.length = 0
  const connecting = Array.from({ length: 50 }, () =>
    connectToOwn({ host: '127.0.0.1', port }, () => dial(port), drop),
  )
  for (const socket of await Promise.all(connecting)) drop(socket)
  expect(listed).toEqual(['/proc'])
  await close(server)
})

/** Root listens as one of the users of engines, any other user as itself. */
async function listenAsEngine() {
  const self = process.geteuid?.() ?? -1
  const uid = self === 0 ? ENGINE_USERS.first : self
  process.seteuid?.(uid)
  const listening = await listen()
  process.seteuid?.(self)
  return { ...listening, uid }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { AgentUnreachable, StaleEpoch } from '../../../../src/nodes/agent-link.ts'
import { createEnginePool, type WaysToEngines } from '../../../../src/reconcile/turn/engines.ts'

const shard = { id: 1, host: '127.0.0.1', port: 1 }
const database = { uid: 1 }
const epoch = { bucket: 1, epoch: 3 }

/** Tunnels to a server that answers each command with PONG, or not at all. */
async function startTunnels({ isSilent = false } = {}) {
  const opened = new Set<Socket>()
  const server = createServer((socket) => {
    opened.add(socket)
    socket.once('close', () => opened.delete(socket))
    socket.on('data', () => isSilent || socket.write('+PONG\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = { life: 'first' }
  const ways: WaysToEngines = {
    async open() {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return { socket, life: agent.life }
    },
    move: () => Promise.reject(new Error('no role moves here')),
    life: async () => agent.life,
  }
  return {
    opened,
    agent,
    ways,
    cut: () => {
      for (const socket of opened) socket.destroy()
    },
    [Symbol.dispose]: () => void server.close(),
  }
}

test('several callers that need a connection to one shard at the same moment share one, and none is left open', async () => {
  using tunnels = await startTunnels()
  {
    using pool = createEnginePool(tunnels.ways)
    const engines = pool.under(epoch)
    const all = await Promise.all([1, 2, 3].map(() => engines.connect(database, shard)))
    expect(all.map((connection) => connection.usable && all.indexOf(connection))).toEqual([0, 0, 0])
    expect(await pool.under(epoch).connect(database, shard)).toBe(all[0])
  }
  await expect.poll(() => tunnels.opened.size).toBe(0)
})

test('a connection serves the epoch in which it was opened, and no later one', async () => {
  using tunnels = await startTunnels()
  using pool = createEnginePool(tunnels.ways)
  const before = await pool.under(epoch).connect(database, shard)
  const after = await pool.under({ ...epoch, epoch: 5 }).connect(database, shard)
  expect(after).not.toBe(before)
  expect([before.usable, after.usable]).toEqual([false, true])
  const another = { ...shard, id: 2 }
  await expect(pool.under(epoch).connect({ uid: 2 }, another)).rejects.toThrow('not of bucket 1')
})

// invariant: No engine counts as silent because its agent was away.
test('a missing answer counts as the engine’s fault only if its agent answered and this server was not replaced', async () => {
  using tunnels = await startTunnels({ isSilent: true })
  using pool = createEnginePool(tunnels.ways)
  /** `meanwhile` happens between question and answer. */
  const ask = async (meanwhile: () => void) => {
    const connection = await pool.under(epoch).connect(database, shard)
    const answer = connection.call('PING')
    await expect.poll(() => tunnels.opened.size).toBe(1)
    meanwhile()
    tunnels.cut()
    return await answer
  }
  await expect(ask(() => undefined)).rejects.toBeInstanceOf(EngineUnreachable)
  const restart = () => {
    tunnels.agent.life = 'second'
  }
  await expect(ask(restart)).rejects.toBeInstanceOf(AgentUnreachable)
  const replace = () => {
    tunnels.ways.life = () => Promise.reject(new StaleEpoch('replaced'))
  }
  await expect(ask(replace)).rejects.toBeInstanceOf(StaleEpoch)
})

const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...shard, id: n + 1 }))

test('connections of a database that rests are closed when nothing is asked; while it is worked on, they stay', async () => {
  using tunnels = await startTunnels()
  using pool = createEnginePool(tunnels.ways, { idleMs: 30, most: 100 })
  const engines = pool.under(epoch)
  pool.work(database.uid)
  const kept = await engines.connect(database, shard)
  const resting = await pool.under({ bucket: 2, epoch: 3 }).connect({ uid: 2 }, { ...shard, id: 2 })
  await expect.poll(() => resting.usable).toBe(false)
  expect(kept.usable).toBe(true)
  pool.rest(database.uid)
  await expect.poll(() => tunnels.opened.size).toBe(0)
  expect(await (await engines.connect(database, shard)).call('PING')).toBe('PONG')
})

test('databases at rest share a limited number of connections; a command under way is not cut', async () => {
  using tunnels = await startTunnels({ isSilent: true })
  using pool = createEnginePool(tunnels.ways, { idleMs: 60_000, most: 3 })
  const engines = pool.under(epoch)
  pool.work(database.uid)
  const connections = await Promise.all(many(8).map((one) => engines.connect(database, one)))
  expect(connections.every(({ usable }) => usable)).toBe(true)
  const [asked] = connections
  const answer = asked?.call('PING').catch((cause: unknown) => cause)
  pool.rest(database.uid)
  expect(connections.filter(({ usable }) => usable)).toHaveLength(3)
  expect(asked?.usable).toBe(true)
  tunnels.cut()
  expect(await answer).toBeInstanceOf(EngineUnreachable)
})

test('a connection that was closed because it was idle does not count as the engine’s fault', async () => {
  using tunnels = await startTunnels()
  using pool = createEnginePool(tunnels.ways, { idleMs: 1, most: 100 })
  const connection = await pool.under(epoch).connect(database, shard)
  await expect.poll(() => connection.usable).toBe(false)
  await expect(connection.call('PING')).rejects.toBeInstanceOf(AgentUnreachable)
  await expect(connection.info()).rejects.toBeInstanceOf(AgentUnreachable)
})

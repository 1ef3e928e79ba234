import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { AgentUnreachable, StaleEpoch } from '../../nodes/agent-link.ts'
import { createEnginePool, type WaysToEngines } from './engines.ts'

const shard = { id: 1, host: '127.0.0.1', port: 1 }
const database = { uid: 1 }
const epoch = { bucket: 1, epoch: 3 }

/** Tunnels to something that answers each command with PONG, or not at all. */
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
    life: async () => agent.life,
  }
  return {
    ...{ opened, agent, ways },
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
  await expect.poll(() => tunnels.opened.size, { timeout: 10_000 }).toBe(0)
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

test('an engine is blamed for a missing answer only while its agent was there and this server was not replaced', async () => {
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

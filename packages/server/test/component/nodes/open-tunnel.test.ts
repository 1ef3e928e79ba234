import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTunnel } from '../../../src/nodes/open-tunnel.ts'

test('an agent that dies right after it has opened a tunnel ends no server: the tunnel is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tunnel-'))
  const agent = createServer().listen(join(folder, 'agent.sock'))
  await once(agent, 'listening')
  const opened = Promise.withResolvers<Socket>()
  agent.on('upgrade', (_, stream) => {
    const socket = stream as Socket
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    opened.resolve(socket)
  })
  try {
    const { socket } = await openTunnel(join(folder, 'agent.sock'), 's1', { bucket: 1, epoch: 1 })
    const closed = new Promise<boolean>((resolve) => {
      socket.once('close', resolve)
    })
    const atAgent = await opened.promise
    atAgent.destroy()
    await once(atAgent, 'close')
    // Its owner has not taken it yet: it gets no error event, and the next write fails.
    socket.write('PING\r\n')
    expect(await closed).toBe(true)
  } finally {
    agent.close()
    await rm(folder, { recursive: true })
  }
})

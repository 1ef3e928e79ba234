import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { LARGEST_EARLY_BYTES } from '../../../src/connection/kept-early.ts'
import { SLICE_MS } from '../../../src/handover/awake-timer.ts'
import { dial, makePair, until } from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

const host = '127.0.0.1'
/** What the kernel takes on both sides. */
const IN_BETWEEN = 16 * 1024 * 1024
const PUSHES = `>2\r\n$7\r\nmessage\r\n$1000\r\n${'x'.repeat(1_000)}\r\n`.repeat(64)

/** Answers no request, and sends unrequested messages without end. */
async function startTalker() {
  const sockets = new Set<Socket>()
  const said = { bytes: 0, closed: 0 }
  const server = createServer((client) => {
    sockets.add(client.on('error', () => undefined))
    const talk = () => {
      do said.bytes += PUSHES.length
      while (!client.destroyed && client.write(PUSHES))
    }
    client.on('drain', talk).once('data', talk)
    client.on('close', () => {
      said.closed += 1
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    said,
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('of the messages of a successor before it has the role only a bounded part is kept; its link is closed, and its client goes on', async () => {
  await using pair = await makePair()
  await using talker = await startTalker()
  await using client = await dial(pair.port)
  client.send('HELLO 3\r\n')
  await until(() => client.text().includes('modules'))
  // The link is not given up because its engine does not answer.
  holdTimers(SLICE_MS)
  const preparing = pair.endpoint.prepare({ host, port: talker.port })
  await until(
    () => talker.said.closed === 1,
    () => `${talker.said.bytes} bytes were taken`,
  )
  await preparing
  expect(talker.said.bytes).toBeLessThan(LARGEST_EARLY_BYTES + IN_BETWEEN)
  const before = client.text().length
  client.send('PING\r\n')
  await until(() => client.text().slice(before) === '+PONG\r\n')
})

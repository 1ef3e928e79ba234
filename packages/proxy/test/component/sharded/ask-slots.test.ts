import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ANSWER_MS, askSlots } from '../../../src/sharded/ask-slots.ts'

/**
 * Timers of the same duration that are due run one after the other: this one is due first, and the deadline
 * of the answer comes with it, before that of the connection.
 */
async function startEarlierTimer(): Promise<void> {
  setTimeout(() => undefined, ANSWER_MS)
  await pause(5)
}

function stall(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('an engine that does not take a connection in time is no answer, and does not end the proxy, also when its loop has stalled', async () => {
  const open: Socket[] = []
  const server = createServer((socket) => void open.push(socket.on('error', () => undefined)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const unhandled: unknown[] = []
  const note = (cause: unknown) => void unhandled.push(cause)
  process.on('unhandledRejection', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    for (const socket of open) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  // Without a handshake of TLS there is no connection before the deadline; otherwise there is no answer.
  for (const tls of [{ ca: '' }, null]) {
    await startEarlierTimer()
    const before = open.length
    const asked = expect(askSlots({ host: '127.0.0.1', port, tls }, null)).rejects.toThrow('in time')
    while (open.length === before) await pause(1)
    stall(ANSWER_MS + 100)
    await asked
  }
  expect(unhandled).toEqual([])
})

import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { makeCluster } from '../../sharded-stage.ts'
import { dial, until } from '../../stage.ts'

const KEYS = 20
const KEY_BYTES = 1_000_000
const CLIENTS = 9

test('replies that the endpoint collects for all clients together have a bound, and are freed', async () => {
  await using cluster = await makeCluster()
  await using filler = await dial(cluster.port)
  for (let n = 0; n < KEYS; n += 1) {
    filler.socket.write(encodeCommand(['SET', `${n}:${'k'.repeat(KEY_BYTES)}`, 'v']))
    await filler.gets('+OK\r\n')
  }
  await using stack = new AsyncDisposableStack()
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => dial(cluster.port)))
  for (const client of clients) {
    stack.use(client)
    await client.ask('PING', '+PONG\r\n')
    client.socket.pause()
    client.send('KEYS *\r\n')
    await filler.ask('PING', '+PONG\r\n')
  }
  // No client reads, so their replies stay: 180 MB are more than is kept.
  await until(() => cluster.endpoint.report().connections < CLIENTS + 1)
  for (const { socket } of clients) socket.resume()
  const isThrough = (text: string) => text.length > KEYS * KEY_BYTES || text.startsWith('-ERR ')
  for (const { text } of clients) await until(() => isThrough(text()))
  const refused = clients.filter(({ text }) => text().startsWith('-ERR '))
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(CLIENTS)
  for (const { text } of refused)
    expect(text()).toBe('-ERR the endpoint has too many long answers to put together: try again\r\n')
  await filler.ask('PING', '+PONG\r\n')
  filler.send('KEYS *\r\n')
  await until(() => filler.text().length > KEYS * KEY_BYTES)
  expect(filler.text().slice(0, 5)).toBe(`*${KEYS}\r\n`)
})

import { Socket } from 'node:net'
import { encodeCommand } from '@fairlead/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { dial, makePair, newest, type RawClient, until } from '../../stage.ts'

afterEach(() => vi.restoreAllMocks())

async function rest(client: RawClient, end: string): Promise<void> {
  await until(() => client.text().endsWith(end))
  await client.gets(client.text())
}

test('a long scan or subscription in a transaction that is not kept is sent whole or not at all', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('MULTI', '+OK\r\n')
  const set = encodeCommand(['SET', 'k', 'x'.repeat(1_000_000)])
  for (let n = 0; n < 16; n += 1) {
    client.send(set)
    await client.gets('+QUEUED\r\n')
  }
  const many = Array.from({ length: 5_000 }, () => ['MATCH', 'y'.repeat(60)]).flat()
  client.send(encodeCommand(['SCAN', '0', ...many]))
  client.send('PING\r\nEXEC\r\nPING\r\n')
  await client.gets("-ERR wrong number of arguments for 'scan' command\r\n+QUEUED\r\n")
  await client.gets('-EXECABORT Transaction discarded because of previous errors.\r\n+PONG\r\n')
})

test('in RESP3 a list is a reply, whatever its first word', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('HELLO 3\r\n')
  await rest(client, '*0\r\n')
  await client.ask('SSUBSCRIBE c', '>3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n')
  const busy = 'local n = 0; for i = 1, 3e7 do n = n + i end;'
  client.send(encodeCommand(['EVAL', `${busy} return {'sunsubscribe'}`, '0']))
  await until(() => pair.endpoint.report().commands === 3)
  const { drained } = await pair.endpoint.hold({ deadlineMs: 60_000 })
  expect(drained).toBe(true)
  pair.endpoint.release()
  await client.gets('*1\r\n$12\r\nsunsubscribe\r\n')
})

test('requests that came in many small pieces while their client was blocked cost others nothing', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('BLPOP q 0\r\n')
  const pings = 10_000
  for (let n = 0; n < pings; n += 1) {
    for (const byte of 'PING\r\n') client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await using other = await dial(pair.port)
  await other.ask('PING', '+PONG\r\n')
  const writes = vi.spyOn(Socket.prototype, 'write')
  await other.ask('LPUSH q v', ':1\r\n')
  await client.gets(`*2\r\n$1\r\nq\r\n$1\r\nv\r\n${'+PONG\r\n'.repeat(pings)}`)
  // In this process both clients write once: the rest is what was forwarded, of 60,000 pieces.
  expect(writes.mock.calls.length).toBeLessThan(1_000)
})

import { latencyBounds, latencyBucket } from '@fairlead/api'
import { expect, test } from 'vitest'
import { dial, makePair, newest, until } from '../../stage.ts'

test('bounds of buckets grow by √2, and each time falls into the first bucket that holds it', () => {
  expect(latencyBounds.slice(0, 3).map(Math.round)).toEqual([16, 23, 32])
  expect(latencyBounds.at(-2)).toBeGreaterThan(11_000_000)
  for (const [n, bound] of latencyBounds.entries()) {
    expect(latencyBucket(bound * 0.99)).toBe(n)
    expect(latencyBucket(bound * 1.01)).toBe(Math.min(n + 1, latencyBounds.length - 1))
  }
  expect([Number.NaN, -1, 0].map(latencyBucket)).toEqual([0, 0, 0])
})

test('an endpoint counts requests and bytes, and the time of each request that waits alone; blocking and unanswered requests are not timed', async () => {
  await using pair = await makePair(newest, newest)
  const { endpoint } = pair
  await using client = await dial(pair.port)
  const timed = () => endpoint.report().traffic.latencies.reduce((sum, one) => sum + one, 0)
  for (let n = 1; n <= 20; n += 1) await client.ask('PING', '+PONG\r\n')
  const { commands, traffic } = endpoint.report()
  expect([commands, traffic.bytesIn]).toEqual([20, 120])
  // The endpoint's own questions are answered, too.
  expect(traffic.bytesOut).toBeGreaterThanOrEqual(140)
  expect(timed()).toBe(20)
  // Of several requests at once, all count with the time of the last one.
  client.send('PING\r\n'.repeat(50))
  await until(() => client.text().split('+PONG').length > 50)
  expect(endpoint.report().commands).toBe(70)
  expect(timed()).toBeLessThanOrEqual(70)
  const before = timed()
  client.send('BLPOP nothing 0\r\n')
  await using other = await dial(pair.port)
  await until(async () => (await pair.a.admin('INFO clients')).includes('blocked_clients:1'))
  await other.ask('LPUSH nothing 1', ':1\r\n')
  await until(() => client.text().endsWith('$1\r\n1\r\n'))
  expect(timed()).toBe(before + 1)
  await other.ask('CLIENT REPLY SKIP\r\nPING\r\nECHO a', '$1\r\na\r\n')
  expect(timed()).toBeLessThanOrEqual(before + 4)
  expect(endpoint.report().traffic.latencyUs).toBeGreaterThan(0)
})

test('the time of a request includes its wait for a handover', async () => {
  await using pair = await makePair(newest, newest)
  const { endpoint } = pair
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  const slow = () =>
    endpoint
      .report()
      .traffic.latencies.slice(latencyBucket(100_000))
      .reduce((sum, one) => sum + one, 0)
  expect((await endpoint.hold({ deadlineMs: 60_000 })).drained).toBe(true)
  // On a busy machine the first request may be slow, too.
  const before = slow()
  client.send('SET key value\r\n')
  const began = performance.now()
  await until(() => performance.now() - began > 150)
  await pair.moveRole()
  await endpoint.switchTo({ host: '127.0.0.1', port: pair.primary().port })
  await until(() => client.text().endsWith('+OK\r\n'))
  expect(slow() - before).toBe(1)
})

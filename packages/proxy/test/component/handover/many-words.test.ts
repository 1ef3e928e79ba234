import { encodeCommand } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dial, makePair, type Pair, until } from '../../stage.ts'

/** Its words are more than an endpoint keeps of a request. */
const MANY_KEYS = 20_000

let pair: Pair
beforeAll(async () => {
  pair = await makePair()
})
afterAll(async () => pair[Symbol.asyncDispose]())

const keys = Array.from({ length: MANY_KEYS }, (_, n) => String(n))

test('a blocking command with more words than are kept is not asked again with some of them', async () => {
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  client.socket.write(encodeCommand(['BLPOP', ...keys, '0']))
  const isBlocked = async () => /^blocked_clients:1\r?$/m.test(await pair.primary().admin('INFO clients'))
  await until(isBlocked, () => 'it does not block')
  await pair.handOver()
  await until(() => client.text() !== '')
  // The error of an engine that is demoted without an endpoint.
  expect(client.text()).toMatch(/^-UNBLOCKED [^\r\n]*\r\n$/)
  client.send('PING\r\n')
  await until(() => client.text().endsWith('+PONG\r\n'))
})

test('a client that tracks more prefixes than are kept gets an error when the role moves', async () => {
  await using client = await dial(pair.port)
  client.send('HELLO 3\r\n')
  const prefixes = keys.slice(0, 40).flatMap((key) => ['PREFIX', `${key}:`])
  client.socket.write(encodeCommand(['CLIENT', 'TRACKING', 'ON', 'BCAST', ...prefixes]))
  await until(() => client.text().endsWith('+OK\r\n'))
  await pair.handOver()
  client.send('CLIENT TRACKINGINFO\r\n')
  const cannot = '-ERR this connection cannot follow its database'
  await until(() => client.text().includes('39:') || client.text().includes(cannot))
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { FLOODS } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type HostileStage,
  makeHostileStage,
  PASSWORD,
  type Target,
} from '../../../packages/proxy/test/hostile/hostile-stage.ts'
import { request } from '../../../packages/proxy/test/hostile/hostile-words.ts'
import { startNeighbour } from '../../../packages/proxy/test/hostile/neighbour.ts'
import { until } from '../../../packages/proxy/test/stage.ts'
import { dialTls, readHello } from '../../../packages/proxy/test/tls-stage.ts'
import { dialRecords, type RecordClient } from '../../../proof/floods/tls-records.ts'

const CLIENTS_OF_EACH = 2
const WAVES = 2
/** As many as fit into what the kernel keeps for a new connection. */
const floods = [
  (client: RecordClient) => client.keyUpdates(2_300),
  (client: RecordClient) => client.keyUpdates(2_300, true),
  (client: RecordClient) => client.tinyRecords(Buffer.from('PING\r\n'.repeat(450))),
]
/** Of all time, in turns of the proxy beyond 20 ms each: a client that comes at a random time meets one with this chance. */
const MOST_OVER = 0.01

let stage: HostileStage
let tls: Target & { readonly ca: string }
beforeAll(async () => {
  stage = await makeHostileStage()
  const target = stage.targets.find(({ name }) => name === 'tls')
  if (target?.ca == null) throw new Error('the stage has no TLS')
  tls = { ...target, ca: target.ca }
  // The first flood is read by Node; then it is known that there is one.
  await flood()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** Clients without a login send all at one moment, and are closed. */
async function flood(): Promise<void> {
  const makers = floods.flatMap((make) => Array.from({ length: CLIENTS_OF_EACH }, () => make))
  // All handshakes first: they have a time limit, and to make the records takes a while.
  const dialled = await Promise.all(makers.map(() => dialRecords(tls.port, tls.ca)))
  const clients = dialled.map((client, n) => ({ raw: client.raw, bytes: makers[n]?.(client) ?? '' }))
  for (const { raw, bytes } of clients) raw.write(bytes)
  await until(() => clients.every(({ raw }) => raw.destroyed))
}

// First, because of the clients that are cut in one second not all are logged.
test('after a flood of TLS records clients whose handshakes fail are logged once, by their own addresses', async () => {
  const line = /"client":"([^"]*)","why":"TLS: (?!it sent)/g
  const logged = () => [...stage.log().matchAll(line)].map(([, client = '']) => client)
  const before = logged().length
  const hello = await readHello()
  const clients = await Promise.all(Array.from({ length: 8 }, () => answerOf(hello)))
  // All at one moment: half of them leave, half send nonsense.
  for (const [n, raw] of clients.entries()) {
    if (n % 2 === 0) raw.resetAndDestroy()
    else raw.write(Buffer.alloc(300, 7))
  }
  await until(() => logged().length >= before + clients.length)
  expect(logged().slice(before).toSorted()).toEqual(clients.map(({ address }) => address).toSorted())
})

test('clients without a login that send thousands of TLS records at one moment are closed, and no neighbour waits for them', async () => {
  await using neighbour = await startNeighbour(stage.port, PASSWORD)
  await stage.turns()
  for (let n = 0; n < WAVES; n += 1) await flood()
  const turns = await stage.turns()
  const { wrong } = await neighbour.look()
  expect(wrong).toBe('')
  expect(stage.log()).toContain(FLOODS)
  expect(turns.overMs / turns.tookMs, JSON.stringify(turns)).toBeLessThan(MOST_OVER)
})

test('after a flood of TLS records other clients get what they ask for, and leave as they like', async () => {
  const open = async () => (await stage.reports()).endpoints.find(({ id }) => id === 'tls')?.connections
  await until(async () => (await open()) === 0)
  const client = await dialTls(tls.port, tls.ca)
  await client.ask(`AUTH ${PASSWORD}`, '+OK\r\n')
  const value = 'v'.repeat(3_000_000)
  client.socket.write(request('SET', 'after', value))
  for (let n = 0; n < 500; n += 1) client.socket.write(request('PING'))
  client.socket.end(request('GET', 'after'))
  await once(client.socket, 'close')
  const replies = `+OK\r\n${'+PONG\r\n'.repeat(500)}$${value.length}\r\n${value}\r\n`
  expect(client.text().endsWith(replies)).toBe(true)

  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const raw = await dialRecords(tls.port, tls.ca)
    await until(async () => (await open()) === 1)
    raw.raw[leave]()
    await until(async () => (await open()) === 0)
  }
})

/** A client in the middle of its handshake. */
async function answerOf(hello: Buffer) {
  const raw = connect({ port: tls.port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined)
  await once(raw, 'connect')
  const address = `${raw.localAddress}:${raw.localPort}`
  raw.write(hello)
  await once(raw, 'data')
  return Object.assign(raw, { address })
}

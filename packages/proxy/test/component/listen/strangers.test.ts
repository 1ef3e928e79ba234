import { afterEach, expect, test, vi } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import type { Cut } from '../../../src/listen/cut-log.ts'
import {
  dial,
  freePort,
  makeEndpointSpec,
  newest,
  oldest,
  type RawClient,
  startEngine,
  until,
} from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

const PASSWORD = 'a-password'
const OK = '+OK\r\n'
const FULL = '-ERR max number of clients reached\r\n'
/**
 * The time to sign in, where it ends only when the test says so: an engine that stalls answers a login later.
 */
const LOGIN_MS = 400

test.each([...new Set([oldest, newest])])(
  'a client that does not sign in gets an error, and is closed: %s',
  async (build) => {
    await using engine = await startEngine(build, '--requirepass', PASSWORD)
    const port = await freePort()
    const admission = createAdmission(100, LOGIN_MS)
    const ends = holdTimers(LOGIN_MS)
    const cuts: Cut[] = []
    await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port), {
      admission,
      onCut: (cut) => void cuts.push(cut),
    })
    const clients: RawClient[] = []
    for (const what of ['', 'PING\r\n', 'AUTH wrong\r\n', 'CLIENT REPLY OFF\r\n', 'GE', 'MULTI\r\n']) {
      const client = await dial(port)
      client.send(what)
      clients.push(client)
    }
    await using member = await dial(port)
    await member.ask(`AUTH ${PASSWORD}`, OK)
    await until(() => admission.strangers.size === clients.length)
    for (const end of ends) end()
    await until(() => clients.every(({ ended }) => ended()))
    for (const { text } of clients)
      expect(text().endsWith('-NOAUTH Authentication required: no login within 0.4 s\r\n')).toBe(true)
    expect(cuts).toHaveLength(clients.length)
    expect(admission.strangers.size).toBe(0)
    await member.ask('PING', '+PONG\r\n')
  },
)

test('a client that takes its login back at once has not signed in', async () => {
  await using engine = await startEngine(newest, '--requirepass', PASSWORD)
  const port = await freePort()
  await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port), {
    admission: createAdmission(100, LOGIN_MS),
  })
  const ends = holdTimers(LOGIN_MS)
  await using client = await dial(port)
  client.send(`AUTH ${PASSWORD}\r\nRESET\r\n`)
  await until(() => client.text().endsWith('+RESET\r\n'))
  for (const end of ends) end()
  await until(client.ended)
  expect(client.text()).toContain('+OK\r\n+RESET\r\n-NOAUTH')
})

test('a client that sends wrong passwords without a pause is closed, too', async () => {
  await using engine = await startEngine(newest, '--requirepass', PASSWORD)
  const port = await freePort()
  await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port), {
    admission: createAdmission(100, 300),
  })
  await using client = await dial(port)
  const guess = () => {
    if (client.socket.writable) client.socket.write('AUTH wrong\r\n'.repeat(10), guess)
  }
  guess()
  await until(client.ended)
})

test('if no client has to sign in, clients may be silent for as long as they like', async () => {
  await using engine = await startEngine(newest)
  const port = await freePort()
  const admission = createAdmission(16, 200)
  await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port), { admission })
  await using blocked = await dial(port)
  blocked.send('BLPOP nothing 0\r\n')
  const idle = await Promise.all(Array.from({ length: 10 }, () => dial(port)))
  await until(() => admission.strangers.size === 0)
  for (const each of idle) await each.ask('CLIENT REPLY SKIP\r\nPING\r\nECHO hi', '$2\r\nhi\r\n')
  expect(blocked.ended()).toBe(false)
  for (const { socket } of idle) socket.destroy()
})

test('strangers cannot take all places: the oldest one of the largest source is closed', async () => {
  await using engine = await startEngine(newest, '--requirepass', PASSWORD)
  const port = await freePort()
  const admission = createAdmission(40, 3_600_000)
  await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port), { admission })
  const strangers: RawClient[] = []
  for (let n = 0; n < 60; n += 1) {
    strangers.push(await dial(port))
    await until(() => admission.strangers.size === Math.min(n + 1, 40))
  }
  await until(() => strangers.slice(0, 20).every(({ ended }) => ended()))
  for (const { text } of strangers.slice(0, 20)) expect(text()).toBe(FULL)
  await using member = await dial(port)
  await member.ask(`AUTH ${PASSWORD}`, OK)
  await member.ask('PING', '+PONG\r\n')
  for (const { socket } of strangers) socket.destroy()
  await until(() => admission.open === 1)
})

test('one database cannot use all places: half of them are divided among the databases', async () => {
  await using engine = await startEngine(newest)
  const admission = createAdmission(20)
  const [port, other] = [await freePort(), await freePort()]
  await using _one = await openEndpoint(makeEndpointSpec(port, engine.port), { admission })
  const two = await openEndpoint(makeEndpointSpec(other, engine.port), { admission })
  const taken: RawClient[] = []
  for (let n = 0; n < 16; n += 1) {
    const client = await dial(port)
    await client.ask('PING', n < 15 ? '+PONG\r\n' : FULL)
    taken.push(client)
  }
  const others: RawClient[] = []
  for (let n = 0; n < 6; n += 1) {
    const client = await dial(other)
    await client.ask('PING', n < 5 ? '+PONG\r\n' : FULL)
    others.push(client)
  }
  // Without the other database its guaranteed places are free for all.
  await two[Symbol.asyncDispose]()
  await until(() => admission.open === 15)
  for (let n = 0; n < 5; n += 1) {
    const client = await dial(port)
    await client.ask('PING', '+PONG\r\n')
    taken.push(client)
  }
  for (const { socket } of [...taken, ...others]) socket.destroy()
  await until(() => admission.open === 0)
})

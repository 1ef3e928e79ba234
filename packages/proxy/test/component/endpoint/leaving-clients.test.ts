import { readFileSync } from 'node:fs'
import { setImmediate as nextRound } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Endpoint, openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { makeCluster } from '../../sharded-stage.ts'
import { dial, freePort, makeEndpointSpec, newest, type RawClient, startEngine, until } from '../../stage.ts'

const CLIENTS = 400
const AT_ONCE = 20
/**
 * Each look at the clock takes a tenth of a millisecond, and nothing else takes time: so many clients are
 * half of the time of the longest round.
 */
const LOOK_MS = 0.1
const MOST_IN_A_ROUND = 100

let stack: AsyncDisposableStack
let plain: Endpoint
let sharded: Endpoint
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const engine = stack.use(await startEngine(newest))
  plain = stack.use(await openEndpoint(makeEndpointSpec(await freePort(), engine.port)))
  sharded = stack.use(await makeCluster()).endpoint
})
afterAll(() => stack.disposeAsync())

afterEach(() => vi.restoreAllMocks())

function stopTheClock(): void {
  let nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += LOOK_MS
    return nowMs
  })
}

/** Not all at once: each has a time limit to get its link. */
async function enter(port: number): Promise<RawClient> {
  const client = await dial(port)
  await client.ask('PING', '+PONG\r\n')
  return client
}

async function enterAll(endpoint: Endpoint): Promise<readonly RawClient[]> {
  const clients: RawClient[] = []
  for (let n = 0; n < CLIENTS; n += AT_ONCE)
    clients.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => enter(endpoint.wanted.port)))))
  expect(endpoint.report().connections).toBe(CLIENTS)
  return clients
}

/** The most clients that have gone in one round of the loop, when all are gone. */
async function mostInARound(endpoint: Endpoint): Promise<number> {
  let most = 0
  for (let before = CLIENTS; before > 0; ) {
    await nextRound()
    const { connections } = endpoint.report()
    most = Math.max(most, before - connections)
    before = connections
  }
  return most
}

test.for([
  ['close their side', 'one engine', () => plain, 'end'],
  ['reset their connections', 'one engine', () => plain, 'resetAndDestroy'],
  ['close their side', 'a sharded database', () => sharded, 'end'],
  ['reset their connections', 'a sharded database', () => sharded, 'resetAndDestroy'],
] as const)(
  '%s: hundreds of clients of %s at one moment leave in many rounds, so that others have their turn',
  async ([, , endpointOf, leave]) => {
    const endpoint = endpointOf()
    const clients = await enterAll(endpoint)
    stopTheClock()
    for (const { socket } of clients) socket[leave]()
    expect(await mostInARound(endpoint)).toBeLessThan(MOST_IN_A_ROUND)
  },
)

test('hundreds of clients whose engine is killed are closed in many rounds, so that others have their turn', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  const clients = await enterAll(endpoint)
  stopTheClock()

  const { pid = 0 } = engine.process
  engine.process.kill('SIGKILL')
  // Without a round in between: when it is gone, all of its connections have ended.
  for (let ms = 0; ms < 60_000 && !isGone(pid); ms += 1) pauseThread()
  expect(isGone(pid)).toBe(true)
  expect(await mostInARound(endpoint)).toBeLessThan(MOST_IN_A_ROUND)
  await until(() => clients.every((client) => client.ended()))
})

/** It waits for this thread to hear of it, and has no files any more. */
const isGone = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')

/** For a millisecond. */
function pauseThread(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
}

test.for([
  ['one engine', () => plain],
  ['a sharded database', () => sharded],
] as const)(
  'a client of %s that leaves in the middle of a long request has gone at once, when its earlier requests are answered',
  async ([, endpointOf]) => {
    const endpoint = endpointOf()
    await using client = await dial(endpoint.wanted.port)
    await client.ask('PING', '+PONG\r\n')
    const half = 'v'.repeat(100_000)
    client.send(`SET {c}k v\r\n*3\r\n$3\r\nSET\r\n$4\r\n{b}k\r\n$200000\r\n${half}`)
    client.socket.end()
    await client.gets('+OK\r\n')
    await until(() => endpoint.report().connections === 0)
  },
)

import { setImmediate as nextRound } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { makeCluster } from '../../test/sharded-stage.ts'
import { dial, freePort, makeEndpointSpec, newest, type RawClient, startEngine } from '../../test/stage.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'

const CLIENTS = 400
const AT_ONCE = 20
/** Each look at the clock takes a tenth of a millisecond, and nothing else takes time: so many clients are half of the time of the longest round. */
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

test.for([
  ['close their side', 'one engine', () => plain, 'end'],
  ['reset their connections', 'one engine', () => plain, 'resetAndDestroy'],
  ['close their side', 'a sharded database', () => sharded, 'end'],
  ['reset their connections', 'a sharded database', () => sharded, 'resetAndDestroy'],
] as const)(
  '%s: hundreds of clients of %s at one moment leave in many rounds, so that others have their turn',
  async ([, , endpointOf, leave]) => {
    const endpoint = endpointOf()
    const clients: RawClient[] = []
    for (let n = 0; n < CLIENTS; n += AT_ONCE)
      clients.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => enter(endpoint.wanted.port)))))
    stopTheClock()
    expect(endpoint.report().connections).toBe(CLIENTS)

    for (const { socket } of clients) socket[leave]()
    let most = 0
    for (let before = CLIENTS; before > 0; ) {
      await nextRound()
      const { connections } = endpoint.report()
      most = Math.max(most, before - connections)
      before = connections
    }
    expect(most).toBeLessThan(MOST_IN_A_ROUND)
  },
)

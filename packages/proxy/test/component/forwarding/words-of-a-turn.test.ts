import { encodeCommand } from '@fairlead/engine'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Endpoint, openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { type Cluster, keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, type Engine, freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'

/*
 * Work is counted in words and values that are looked at, not in time: a machine may be slow. Between two
 * looks at the clock there are only so many of them; and when the clock says that the turn is over, no more
 * follow.
 */

// Files of a worker share their modules: this one loads its own, with the mock, and the next file loads them
// anew.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())
const counted = vi.hoisted(() => ({
  sinceClock: 0,
  mostSinceClock: 0,
  ofTurn: 0,
  mostOfTurn: 0,
  copiedBytes: 0,
}))
const count = vi.hoisted(() => (words: number) => {
  counted.sinceClock += words
  counted.ofTurn += words
  counted.mostSinceClock = Math.max(counted.mostSinceClock, counted.sinceClock)
  counted.mostOfTurn = Math.max(counted.mostOfTurn, counted.ofTurn)
})

vi.mock('@fairlead/engine', async (original) => {
  const engine = await original<typeof import('@fairlead/engine')>()
  const counting =
    <Scanner extends { looks: number }>(scan: (scanner: Scanner, chunk: Buffer, from: number) => number) =>
    (scanner: Scanner, chunk: Buffer, from: number) => {
      const before = scanner.looks
      const end = scan(scanner, chunk, from)
      count(scanner.looks - before)
      return end
    }
  return { ...engine, scanRequest: counting(engine.scanRequest), scanReply: counting(engine.scanReply) }
})

let stack: AsyncDisposableStack
let engine: Engine
let endpoint: Endpoint
let cluster: Cluster
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  engine = stack.use(await startEngine(newest))
  endpoint = stack.use(await openEndpoint(makeEndpointSpec(await freePort(), engine.port)))
  cluster = stack.use(await makeCluster())
})
afterAll(() => stack.disposeAsync())

/**
 * Each look at the clock takes a tenth of a millisecond, and nothing else takes time: a turn of 0.4 ms has
 * five looks.
 */
const LOOK_MS = 0.1
/**
 * For a sharded database, what a connection to a group has passed on is looked at once more. Of a read there
 * may be 21,000.
 */
const MOST_SINCE_CLOCK = 4_000
const MOST_OF_TURN = 20_000

let turns: NodeJS.Immediate
beforeEach(() => {
  let nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => {
    counted.sinceClock = 0
    nowMs += LOOK_MS
    return nowMs
  })
  const concat = Buffer.concat
  vi.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
    const all = concat(list, length)
    counted.copiedBytes = Math.max(counted.copiedBytes, all.length)
    return all
  })
  Object.assign(counted, { sinceClock: 0, mostSinceClock: 0, ofTurn: 0, mostOfTurn: 0, copiedBytes: 0 })
  const turn = () => {
    counted.ofTurn = 0
    turns = setImmediate(turn)
  }
  turn()
})
afterEach(() => {
  clearImmediate(turns)
  vi.restoreAllMocks()
})

const WORDS = 300_000
const empties = (...first: readonly string[]) =>
  Buffer.concat([
    Buffer.from(`*${first.length + WORDS}\r\n`),
    ...first.map((word) => Buffer.from(`$${word.length}\r\n${word}\r\n`)),
    Buffer.from('$0\r\n\r\n'.repeat(WORDS)),
  ])
const numbers = 'local t={} for i=1,300000 do t[i]=7 end return t'

/** Asks, and waits for an answer that ends with that of a PING. */
async function asks(port: number, request: Buffer, prepare = ''): Promise<string> {
  await using client = await dial(port)
  await client.ask('PING', '+PONG\r\n')
  if (prepare !== '') await client.ask(prepare, '+OK\r\n')
  client.socket.write(Buffer.concat([request, Buffer.from('PING\r\n')]))
  await until(() => client.text().endsWith('+PONG\r\n'), undefined)
  return client.text()
}

describe.for([
  ['one engine', () => endpoint.wanted.port],
  ['a sharded database', () => cluster.port],
] as const)('before %s', ([, portOf]) => {
  test.for([
    ['MGET', () => empties('MGET', keyOf[0]), /^\*300001\r\n|^-CROSSSLOT/],
    ['XREAD', () => empties('XREAD', 'COUNT', '1', 'STREAMS', keyOf[0]), /^-ERR/],
    ['EVAL', () => empties('EVAL', 'return 1', '1', keyOf[0]), /^:1\r\n/],
    ['BLPOP', () => empties('BLPOP', keyOf[0]), /^-ERR|^-CROSSSLOT/],
    ['a reply', () => encodeCommand(['EVAL', numbers, '0']), /^\*300000\r\n/],
  ] as const)('300,000 words of %s are looked at in many turns', async ([name, request, answer]) => {
    expect(await asks(portOf(), request())).toMatch(answer)
    expect([name, counted.mostOfTurn > 0]).toEqual([name, true])
    expect(counted.mostSinceClock).toBeLessThan(MOST_SINCE_CLOCK)
    expect(counted.mostOfTurn).toBeLessThan(MOST_OF_TURN)
  })
})

test('a long answer of all groups is not copied into one piece', async () => {
  await using client = await dial(cluster.port)
  const [key] = keyOf
  for (let n = 0; n < 4; n += 1) {
    client.socket.write(encodeCommand(['SET', `${key}${n}${'x'.repeat(1_000_000)}`, 'v']))
    await client.gets('+OK\r\n')
  }
  counted.copiedBytes = 0
  for (const line of [`KEYS ${key}*\r\n`, 'SCAN 0 COUNT 1000\r\n']) {
    client.send(line)
    await until(() => client.text().length > 4_000_000 && client.text().endsWith('x\r\n'))
    await client.gets(client.text())
  }
  expect(counted.copiedBytes).toBeLessThan(1_000_000)
})

import { afterEach, expect, test, vi } from 'vitest'
import { HOLD_COMES_MS } from '../../../src/handover/unblocked-clients.ts'
import { builds, dial, type Engine, makePair, newest, type Pair, type RawClient, until } from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

/** More than the smallest number for which it is done. */
const MANY = 60

async function dialMany(pair: Pair, count: number, stack: AsyncDisposableStack): Promise<RawClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => dial(pair.port)))
  for (const client of clients) await stack.use(client).ask('PING', '+PONG\r\n')
  return clients
}

const untilBlocked = (engine: Engine, count: number) =>
  until(async () => (await engine.admin('INFO clients')).includes(`blocked_clients:${count}\r\n`))

/** As the server does: makes the engine give up the commands of the named connections. Returns how many. */
async function giveUp(engine: Engine, addresses: readonly string[]): Promise<number> {
  await using admin = await dial(engine.port)
  admin.send('CLIENT LIST\r\n')
  await until(() => admin.text().endsWith('\n\r\n'))
  const named = [...admin.text().matchAll(/id=(\d+) addr=(\S+) /g)].filter(([, , address = '']) =>
    addresses.includes(address),
  )
  const answers = await Promise.all(named.map(([, id]) => engine.admin(`CLIENT UNBLOCK ${id} ERROR`)))
  return answers.filter((answer) => answer === ':1\r\n').length
}

const item = (key: string, value: string) =>
  `*2\r\n$${key.length}\r\n${key}\r\n$${value.length}\r\n${value}\r\n`

// invariant: Blocking commands are ended before writes stop, and sent again once.
test.for(builds)(
  'a command that %s gives up before the role moves waits for the successor, and each item arrives once',
  async (build) => {
    await using stack = new AsyncDisposableStack()
    const pair = stack.use(await makePair(build, build))
    const poppers = await dialMany(pair, MANY, stack)
    const [pusher] = await dialMany(pair, 1, stack)
    if (pusher === undefined) throw new Error('no client')
    for (const [n, each] of poppers.entries()) each.send(`BLPOP q${n} 0\r\n`)
    await untilBlocked(pair.a, MANY)
    holdTimers(HOLD_COMES_MS)
    const addresses = pair.endpoint.blocked()
    expect(addresses.length).toBe(MANY)
    // One gets its item before its command is given up: that is its answer, and the command is not sent
    // again.
    await pusher.ask('RPUSH q0 first', ':1\r\n')
    expect(await giveUp(pair.a, addresses)).toBe(MANY - 1)
    await poppers[0]?.gets(item('q0', 'first'))
    // No client is held yet. Items that are pushed now are kept for the waiting clients, and their next
    // requests come after that.
    for (const [n, each] of poppers.entries()) {
      await pusher.ask(`RPUSH q${n} once twice`, ':2\r\n')
      if (n > 0) each.send('PING\r\n')
    }
    await pair.handOver()
    for (const [n, each] of poppers.entries()) if (n > 0) await each.gets(`${item(`q${n}`, 'once')}+PONG\r\n`)
    await poppers[0]?.ask('LPOP q0', '$4\r\nonce\r\n')
    for (const [n, each] of poppers.entries()) await each.ask(`LPOP q${n}`, '$5\r\ntwice\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, repoints: 1, connections: MANY + 1 })
  },
)

const blockingAgain = [
  'BLPOP q 0',
  'BRPOP q 0',
  'BLMOVE q r LEFT RIGHT 0',
  'BZPOPMIN z 0',
  'XREAD BLOCK 0 STREAMS s $',
  'XREADGROUP GROUP g c BLOCK 0 STREAMS s >',
  'WAIT 5 0',
]

test.for(blockingAgain)(
  'a client whose command is answered before it is given up, and that blocks again (%s), sees no error',
  async (again) => {
    await using stack = new AsyncDisposableStack()
    const pair = stack.use(await makePair(newest, newest))
    await pair.a.admin('XGROUP CREATE s g $ MKSTREAM')
    const poppers = await dialMany(pair, MANY, stack)
    const [pusher] = await dialMany(pair, 1, stack)
    if (pusher === undefined) throw new Error('no client')
    for (const each of poppers) each.send('BLPOP first 0\r\n')
    await untilBlocked(pair.a, MANY)
    holdTimers(HOLD_COMES_MS)
    const addresses = pair.endpoint.blocked()
    for (const each of poppers) {
      await pusher.ask('RPUSH first x', ':1\r\n')
      await each.gets(item('first', 'x'))
      each.send(`${again}\r\n`)
    }
    expect(await giveUp(pair.a, addresses)).toBe(0)
    await pair.handOver()
    // All wait again, at the new primary.
    await untilBlocked(pair.b, MANY)
    for (const each of poppers) expect(each.text()).toBe('')
  },
)

test('a client that is answered before its command is given up goes on when no hold follows, and one that has left is forgotten', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair(newest, newest))
  const poppers = await dialMany(pair, MANY, stack)
  for (const each of poppers) each.send('BLPOP q 0\r\n')
  await untilBlocked(pair.a, MANY)
  const none = holdTimers(HOLD_COMES_MS)
  pair.endpoint.blocked()
  await pair.a.admin(`RPUSH q ${Array.from({ length: MANY }, () => 'x').join(' ')}`)
  for (const each of poppers) {
    await each.gets(item('q', 'x'))
    each.send('PING\r\n')
  }
  const [left, ...others] = poppers
  left?.socket.destroy()
  none[0]?.()
  for (const each of others) await each.gets('+PONG\r\n')
  // A client that ends its side is still owed its PONG: the connection ends when it goes on.
  await until(() => pair.endpoint.report().connections === MANY - 1)
  await pair.handOver()
  for (const each of others) await each.ask('PING', '+PONG\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, connections: MANY - 1 })
})

test.for([['no hold follows'], ['the hold ends without a move']] as const)(
  'if the role does not move, a command that was given up is sent again on the same connection: %s',
  async ([what]) => {
    await using stack = new AsyncDisposableStack()
    const pair = stack.use(await makePair())
    const poppers = await dialMany(pair, MANY, stack)
    for (const each of poppers) each.send('BLPOP q 0\r\n')
    await untilBlocked(pair.a, MANY)
    const none = holdTimers(HOLD_COMES_MS)
    const addresses = pair.endpoint.blocked()
    expect(none.length).toBe(1)
    expect(await giveUp(pair.a, addresses)).toBe(MANY)
    await untilBlocked(pair.a, 0)
    if (what === 'no hold follows') none[0]?.()
    else {
      expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true })
      pair.endpoint.release()
    }
    await untilBlocked(pair.a, MANY)
    expect(new Set(pair.endpoint.blocked())).toEqual(new Set(addresses))
    await pair.a.admin(`RPUSH q ${Array.from({ length: MANY }, () => 'x').join(' ')}`)
    for (const each of poppers) await each.gets(item('q', 'x'))
  },
)

test('if the order to give up a command comes so late that no hold is expected any more, the command is sent again and its client sees no error', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair(newest, newest))
  const poppers = await dialMany(pair, MANY, stack)
  for (const each of poppers) each.send('BLPOP q 0\r\n')
  await untilBlocked(pair.a, MANY)
  const none = holdTimers(HOLD_COMES_MS)
  const addresses = pair.endpoint.blocked()
  none[0]?.()
  expect(await giveUp(pair.a, addresses)).toBe(MANY)
  await until(() => {
    const now = pair.endpoint.blocked()
    return now.length === MANY && now.every((each) => !addresses.includes(each))
  })
  await untilBlocked(pair.a, MANY)
  await pair.a.admin(`RPUSH q ${Array.from({ length: MANY }, () => 'x').join(' ')}`)
  for (const each of poppers) await each.gets(item('q', 'x'))
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, connections: MANY })
})

test('a command is not given up early if it would miss data, or if few clients are blocked', async () => {
  await using stack = new AsyncDisposableStack()
  const pair = stack.use(await makePair(newest, newest))
  const few = await dialMany(pair, 20, stack)
  for (const each of few) each.send('BLPOP q 0\r\n')
  await untilBlocked(pair.a, few.length)
  expect(pair.endpoint.blocked()).toEqual([])
  // It hears only of what is added while it waits.
  for (const each of await dialMany(pair, MANY, stack)) each.send('XREAD BLOCK 0 STREAMS s $\r\n')
  await untilBlocked(pair.a, few.length + MANY)
  expect(pair.endpoint.blocked()).toEqual([])
  // Messages come on the same connection.
  const listening = await dialMany(pair, MANY, stack)
  for (const each of listening) each.send('HELLO 3\r\nSUBSCRIBE c\r\nBLPOP q 0\r\n')
  await untilBlocked(pair.a, few.length + 2 * MANY)
  expect(pair.endpoint.blocked()).toEqual([])
})

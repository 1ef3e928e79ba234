import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { campaign } from '../../../../../proof/campaign.ts'
import { createChance } from '../../../../../proof/create-chance.ts'
import { fc } from '../../../../../proof/properties.ts'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import {
  dial,
  freePort,
  makeEndpointSpec,
  makePair,
  newest,
  oldest,
  startEngine,
  until,
} from '../../stage.ts'

const DEPTH = 16

/** Increments a counter of its own, DEPTH at a time, and checks that each answer is the next number. */
async function countUp(port: number, key: string, signal: AbortSignal): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let rest = ''
  let next = 1
  let inFlight = 0
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const send = () => {
    if (signal.aborted) {
      if (inFlight === 0) resolve(next - 1)
      return
    }
    socket.write(`INCR ${key}\r\n`.repeat(DEPTH))
    inFlight += DEPTH
  }
  socket.on('connect', send)
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== `:${next}`) reject(new Error(`${key}: wanted :${next}, got ${line}`))
      next += 1
      inFlight -= 1
    }
    if (inFlight === 0) send()
  })
  socket.on('close', () => reject(new Error(`${key}: the connection was closed`)))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

// invariant: No request is sent twice, and no reply is delivered twice.
test('six handovers under load: nothing lost, nothing twice, no client disconnected', async () => {
  await using pair = await makePair(oldest, newest)
  const stop = new AbortController()
  const keys = Array.from({ length: 20 }, (_, n) => `n${n}`)
  const counting = Promise.all(keys.map((key) => countUp(pair.port, key, stop.signal)))
  const failed = counting.then(
    () => null,
    (cause: unknown) => cause,
  )
  await using other = await dial(pair.port)
  for (let n = 1; n <= 6; n += 1) {
    await other.ask('MULTI', '+OK\r\n')
    await other.ask('INCR t', '+QUEUED\r\n')
    await pair.handOver()
    await other.ask('EVAL "return redis.call(\'INCR\', KEYS[1])" 1 u', '+QUEUED\r\n')
    await other.ask('EXEC', `*2\r\n:${n}\r\n:${n}\r\n`)
    const { commands } = pair.endpoint.report()
    await until(() => pair.endpoint.report().commands > commands + 2_000)
  }
  stop.abort()
  expect(await failed).toBe(null)
  for (const [n, count] of (await counting).entries())
    expect(await pair.primary().admin(`GET n${n}`)).toContain(`\r\n${count}\r\n`)
  expect(pair.endpoint.report()).toMatchObject({ repoints: 6, errors: 0, failedHolds: 0, connections: 1 })
})

test('bytes of two clients never mix, whatever they send and however it is cut', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  const talk = async (n: number) => {
    const chance = createChance(campaign().seed + n)
    await using client = await dial(endpoint.wanted.port)
    for (let round = 0; round < 30; round += 1) {
      const value = `${n}-${round}-${randomBytes(Math.floor(200 * chance())).toString('hex')}`
      const bytes = Buffer.from(`*2\r\n$4\r\nECHO\r\n$${value.length}\r\n${value}\r\n`.repeat(3))
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + Math.floor(chance() * 40)
        client.send(bytes.subarray(at, end))
        at = end
        if (chance() < 0.3) await new Promise((tell) => setImmediate(tell))
      }
      await client.gets(`$${value.length}\r\n${value}\r\n`.repeat(3))
    }
    expect(client.text()).toBe('')
  }
  await Promise.all(Array.from({ length: 20 }, (_, n) => talk(n)))
})

test('garbage, in any pieces, ends at most the connection it came on', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using other = await dial(endpoint.wanted.port)
  type Piece = string | Uint8Array<ArrayBuffer>
  const piece: fc.Arbitrary<Piece> = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 60 }),
    fc.constantFrom(
      '*',
      '*2\r\n',
      '$3\r\n',
      'EXEC\r\n',
      'MULTI\r\n',
      'WATCH k\r\n',
      '*3\r\n$99999\r\nx',
      'HELLO 3\r\n',
    ),
    fc.constantFrom(
      'SUBSCRIBE a\r\n',
      'CLIENT REPLY SKIP\r\n',
      'CLIENT REPLY OFF\r\n',
      'BLPOP q 0\r\n',
      'RESET\r\n',
    ),
  )
  // Both were found by chance: the client waited without a reply, and because of the requests behind it the
  // endpoint did not release it.
  const garbled: Piece[] = [
    'CLIENT REPLY SKIP\r\n',
    'BLPOP q 0\r\n',
    'x$3\r\n',
    '*',
    'RESET\r\n',
    'SUBSCRIBE a\r\n',
  ]
  const gone: Piece[] = [
    'RESET\r\n',
    'CLIENT REPLY OFF\r\n',
    'BLPOP q 0\r\n',
    'RESET\r\n',
    'RESET\r\n',
    'CLIENT REPLY SKIP\r\n',
    '\r',
  ]
  const property = fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
    const client = await dial(endpoint.wanted.port)
    for (const bytes of pieces) {
      client.send(bytes)
      await new Promise((tell) => setImmediate(tell))
    }
    await other.ask('ECHO mine', '$4\r\nmine\r\n')
    client.socket.destroy()
    await until(() => endpoint.report().connections === 1)
  })
  for (const seed of campaign().seeds('endpoint garbage'))
    await fc.assert(property, { seed, numRuns: 150, endOnFailure: true, examples: [[gone], [garbled]] })
  expect(other.text()).toBe('')
})

test('an invalid request gets the engine’s error, after the replies that are due', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using client = await dial(endpoint.wanted.port)
  client.send('PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n$536870913\r\nxx')
  await client.gets('+PONG\r\n+PONG\r\n-ERR Protocol error: invalid bulk length\r\n')
  await until(() => client.ended())
})

test('a hold without a switch ends at its deadline, with the old upstream', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  await client.ask('SET k 1', '+OK\r\n')
  const began = performance.now()
  expect(await pair.endpoint.hold({ deadlineMs: 200 })).toMatchObject({ drained: true })
  await using late = await dial(pair.port)
  late.send('GET k\r\n')
  await client.ask('GET k', '$1\r\n1\r\n')
  await late.gets('$1\r\n1\r\n')
  expect(performance.now() - began).toBeGreaterThan(150)
  expect(pair.endpoint.report()).toMatchObject({ isHeld: false, failedHolds: 1, repoints: 0 })
})

test('a hold fails when the engine does not answer in time, and all clients go on', async () => {
  await using pair = await makePair()
  await using slow = await dial(pair.port)
  await using other = await dial(pair.port)
  await pair.a.admin('CLIENT PAUSE 60000 WRITE')
  slow.send('SET k 1\r\n')
  await until(() => pair.endpoint.report().commands === 1)
  await other.ask('GET k', '$-1\r\n')
  const held = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 100 })
  other.send('GET k\r\n')
  expect(await held).toMatchObject({ drained: false, why: '1 connection(s) wait for replies of the engine' })
  await other.gets('$-1\r\n')
  await pair.a.admin('CLIENT UNPAUSE')
  await slow.gets('+OK\r\n')
})

test('a long request that was forwarded in part waits during a hold, with the requests after it, and is sent whole to the new primary', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  const half = 'x'.repeat(100_000)
  client.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$200000\r\n${half}`)
  await until(async () => /qbuf=\d{6}/.test(await pair.a.admin('CLIENT LIST')))
  expect(await pair.endpoint.hold({ deadlineMs: 60_000 })).toMatchObject({ drained: true, late: 0 })
  client.send(`${half}\r\nSTRLEN k\r\nSET k later\r\nGET k\r\n`)
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await client.gets('+OK\r\n:200000\r\n+OK\r\n$5\r\nlater\r\n')
})

test('a client that does not read delays only itself, and the proxy keeps little of its replies', async () => {
  await using pair = await makePair()
  await using other = await dial(pair.port)
  await pair.a.admin(`SETRANGE big 1000000 x`)
  const lazy = connect({ host: '127.0.0.1', port: pair.port })
  await once(lazy, 'connect')
  lazy.pause()
  const before = process.memoryUsage().rss
  lazy.write('GET big\r\n'.repeat(200))
  await until(
    async () =>
      Number(/tot-net-out=|omem=([1-9]\d{6,})/.exec(await pair.a.admin('CLIENT LIST'))?.[1] ?? 0) > 0,
  )
  for (let n = 0; n < 50; n += 1) await other.ask('PING', '+PONG\r\n')
  // All of it would be twice as much.
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)

  // It delays a handover only until the proxy keeps as much for it as it may, and gets its replies.
  expect(await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })).toMatchObject({
    drained: true,
    late: 1,
  })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await other.ask('SET k v', '+OK\r\n')
  let bytes = 0
  lazy.on('data', (chunk) => {
    bytes += chunk.length
  })
  lazy.resume()
  lazy.write('SET k w\r\n')
  await until(
    () => bytes === 200 * (1_000_001 + 12) + 5,
    () => `${bytes} bytes`,
  )
  lazy.destroy()
})

test('half-closed clients get every reply; a blocked half-closed client is disconnected from the engine at once', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using client = await dial(endpoint.wanted.port)
  client.socket.end(`${'INCR n\r\n'.repeat(3)}PING\r\n`)
  await client.gets(':1\r\n:2\r\n:3\r\n+PONG\r\n')
  await until(() => client.ended())
  await using waits = await dial(endpoint.wanted.port)
  waits.send('BLPOP q 0\r\n')
  await until(async () => (await engine.admin('INFO clients')).includes('blocked_clients:1'))
  waits.socket.destroy()
  await until(async () => (await engine.admin('INFO clients')).includes('blocked_clients:0'))
})

test('when the engine dies, its clients are closed; a new client waits for a moment, and gets an error', async () => {
  const cuts: unknown[] = []
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), await freePort()), {
    onCut: (cut) => void cuts.push(cut),
  })
  await using early = await dial(endpoint.wanted.port)
  early.send('PING\r\n')
  await early.gets('-LOADING the database cannot be reached right now; try again\r\n')
  await until(() => early.ended())
  // On a machine that stalls, the time is over before the first attempt has failed.
  const why = expect.stringMatching(/ECONNREFUSED|no connection to .* in time/)
  expect(cuts).toEqual([{ client: early.address, via: [], why }])
  await using engine = await startEngine(newest)
  await endpoint.switchTo({ host: '127.0.0.1', port: engine.port })
  await using client = await dial(endpoint.wanted.port)
  await client.ask('PING', '+PONG\r\n')
  engine.process.kill('SIGKILL')
  await until(() => client.ended())
  expect(endpoint.report().connections).toBe(0)
  expect(cuts).toMatchObject([{}, { client: client.address, why: 'its shard closed the connection' }])
})

test('idle connections move by themselves, and at once when they send something, also over two switches in a row', async () => {
  await using pair = await makePair()
  const clients = await Promise.all(Array.from({ length: 300 }, () => dial(pair.port)))
  await Promise.all(clients.map((client) => client.ask('SELECT 1', '+OK\r\n')))
  await pair.handOver()
  await pair.handOver()
  await Promise.all(clients.slice(0, 100).map((client) => client.ask('GET k', '$-1\r\n')))
  // One of them is the connection of the observer.
  await until(
    async () => Number(/connected_clients:(\d+)/.exec(await pair.a.admin('INFO clients'))?.[1]) === 301,
  )
  await until(
    async () => Number(/connected_clients:(\d+)/.exec(await pair.b.admin('INFO clients'))?.[1]) <= 2,
  )
  for (const client of clients) client.socket.destroy()
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, repoints: 2 })
})

test('a client beyond the limit gets an error, and the others go on', async () => {
  await using engine = await startEngine(newest)
  const admission = createAdmission(1)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port), { admission })
  {
    await using client = await dial(endpoint.wanted.port)
    await client.ask('PING', '+PONG\r\n')
    await using second = await dial(endpoint.wanted.port)
    await second.gets('-ERR max number of clients reached\r\n')
    await until(() => second.ended())
    await client.ask('PING', '+PONG\r\n')
  }
  await until(() => admission.open === 0)
  await using third = await dial(endpoint.wanted.port)
  await third.ask('PING', '+PONG\r\n')
})

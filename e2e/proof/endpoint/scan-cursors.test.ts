import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createReplyScanner, encodeCommand, type ParsedReply, parseReply, scanReply } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { openEndpoint } from '../../../packages/proxy/src/endpoint/endpoint.ts'
import { openGenerations } from '../../../packages/proxy/src/handover/cursor-generations.ts'
import { createExecMarking, markNext } from '../../../packages/proxy/src/remembered/mark-exec.ts'
import { argsForEngine, markReply } from '../../../packages/proxy/src/remembered/scan-cursors.ts'
import { runProxy } from '../../../packages/proxy/test/run-proxy.ts'
import { keyOf, makeCluster } from '../../../packages/proxy/test/sharded-stage.ts'
import {
  builds,
  dial,
  freePort,
  makeEndpointSpec,
  makePair,
  newest,
  oldest,
  type Pair,
  programOf,
  startEngine,
  until,
} from '../../../packages/proxy/test/stage.ts'
import { fc } from '../../../proof/properties.ts'

const MANY = 3_000
const host = '127.0.0.1'

interface Asker extends AsyncDisposable {
  /** Sends a command, in pieces of `cut` bytes if that is given, and returns its reply. */
  ask(words: readonly string[], cut?: number): Promise<ParsedReply>
}

async function dialAsker(port: number): Promise<Asker> {
  const client = await dial(port)
  return {
    async ask(words, cut) {
      const bytes = encodeCommand(words)
      if (cut === undefined) client.send(bytes)
      else
        for (let at = 0; at < bytes.length; at += cut) {
          client.send(bytes.subarray(at, at + cut))
          await new Promise((tell) => setImmediate(tell))
        }
      const end = () => scanReply(createReplyScanner(), Buffer.from(client.text(), 'latin1'), 0)
      await until(() => client.ended() || end() > 0)
      if (end() < 0) throw new Error(`the connection was closed: ${client.text()}`)
      const whole = client.text().slice(0, end())
      await client.gets(whole)
      return parseReply(Buffer.from(whole, 'latin1'))
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/** MANY keys, and three keys with MANY elements each. */
async function fill({ ask }: Asker, prefix = ''): Promise<void> {
  for (let from = 0; from < MANY; from += 500) {
    const all = Array.from({ length: 500 }, (_, n) => `e${from + n}`)
    await ask(['MSET', ...all.flatMap((key) => [`${key}${prefix}`, 'v'])])
    await ask(['HSET', `${prefix}h`, ...all.flatMap((name) => [name, 'v'])])
    await ask(['SADD', `${prefix}s`, ...all])
    await ask(['ZADD', `${prefix}z`, ...all.flatMap((name, n) => [String(n), name])])
  }
}

interface Scan {
  readonly seen: Set<string>
  cursor: string
  steps: number
}
type Scans = ReadonlyMap<readonly string[], Scan>

function beginScans(prefix = ''): Scans {
  const all = [['SCAN'], ['HSCAN', `${prefix}h`], ['SSCAN', `${prefix}s`], ['ZSCAN', `${prefix}z`]]
  return new Map(all.map((words) => [words, { seen: new Set<string>(), cursor: '0', steps: 0 }]))
}

/** Continues the scans until each has seen `upTo` elements, or is at its end. */
async function proceed(scans: Scans, ask: Asker['ask'], upTo = Number.POSITIVE_INFINITY): Promise<void> {
  for (const [words, scan] of scans) {
    do {
      const [cursor, found] = (await ask([...words, scan.cursor, 'COUNT', '100'])) as [string, string[]]
      scan.cursor = cursor
      scan.steps += 1
      const isPaired = words[0] === 'HSCAN' || words[0] === 'ZSCAN'
      for (const [n, name] of found.entries()) if (!isPaired || n % 2 === 0) scan.seen.add(name)
      // A client that uses floating point numbers can hold the cursor exactly, too.
      expect(Number.isSafeInteger(Number(cursor))).toBe(true)
    } while (scan.cursor !== '0' && scan.seen.size < upTo)
  }
}

/** Checks that each scan has returned every element that existed all the time. */
function expectAll(scans: Scans, keys = MANY): void {
  for (const [words, { seen, cursor }] of scans) {
    expect([words[0], cursor]).toEqual([words[0], '0'])
    const names = [...seen].filter((name) => name.startsWith('e'))
    expect([words[0], names.length]).toEqual([words[0], words[0] === 'SCAN' ? keys : MANY])
  }
}

/** Every build as the successor of one that all of them can follow, and of itself. */
const pairs = [...builds.map((build) => [oldest, build] as const), [newest, newest] as const]

// invariant: A scan across a handover misses no element that existed all the time.
test.for(pairs)(
  'a scan with a handover there and back in its middle misses no element that always existed: %s → %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    await using client = await dialAsker(pair.port)
    await fill(client)
    const scans = beginScans()
    await proceed(scans, client.ask, MANY / 2)
    await pair.handOver()
    await proceed(scans, client.ask, (MANY * 2) / 3)
    await pair.handOver()
    await using other = await dialAsker(pair.port)
    await proceed(scans, other.ask)
    expectAll(scans)
    // It ends: it starts from the beginning at most once for each handover.
    for (const { steps } of scans.values()) expect(steps).toBeLessThan((3 * MANY) / 50)
  },
)

test('a scan whose engine ends and starts again at its address misses no element', async () => {
  await using engine = await startEngine(newest)
  const port = await freePort()
  await using _endpoint = await openEndpoint(makeEndpointSpec(port, engine.port))
  await using client = await dialAsker(port)
  await fill(client)
  const scans = beginScans()
  await proceed(scans, client.ask, MANY / 2)
  engine.process.kill('SIGKILL')
  await once(engine.process, 'exit')
  // A client whose connection was closed comes back at once, and waits.
  await using back = await dialAsker(port)
  const waits = back.ask(['PING'])

  const options = ['--port', String(engine.port), '--bind', host, '--save', '', '--dir', tmpdir()]
  const again = spawn(programOf(newest, 'server'), options, { stdio: 'ignore' })
  await using _again = { [Symbol.asyncDispose]: async () => void again.kill('SIGKILL') }
  expect(await waits).toBe('PONG')
  await using direct = await dialAsker(engine.port)
  // The data that it has read from its disk.
  await fill(direct)
  await using other = await dialAsker(port)
  await proceed(scans, other.ask)
  expectAll(scans)
})

test('a scan misses no element if its requests come byte by byte, or inline, or in transactions with a handover in the middle', async () => {
  await using pair = await makePair()
  await using client = await dialAsker(pair.port)
  await fill(client)
  const scans = beginScans()
  const inTransaction: Asker['ask'] = async (words) => {
    for (const line of [['MULTI'], ['GET', 'none'], words, ['PING']]) await client.ask(line)
    const [none, reply, pong] = (await client.ask(['EXEC'])) as [null, ParsedReply, string]
    expect([none, pong]).toEqual([null, 'PONG'])
    return reply
  }
  await proceed(scans, (words) => client.ask(words, 1), MANY / 4)
  await pair.handOver()
  await proceed(scans, inTransaction, MANY / 4)
  await pair.handOver()
  await proceed(scans, (words) => client.ask(words, 7), MANY / 3)
  for (const [words, { cursor }] of scans) await queueOver(pair, client, [...words, cursor])
  await using other = await dial(pair.port)
  other.send('SET x 1\r\nSCAN 0 COUNT 100\r\n')
  await until(() => /^\+OK\r\n\*2\r\n\$\d+\r\n\d+\r\n\*\d/.test(other.text()))
  await proceed(scans, inTransaction)
  expectAll(scans)
})

/**
 * The new primary executes a queued scan with an old cursor from the beginning, whatever that cursor says.
 */
async function queueOver(pair: Pair, { ask }: Asker, words: readonly string[]): Promise<void> {
  await ask(['MULTI'])
  expect(await ask([...words, 'COUNT', '1000000'])).toBe('QUEUED')
  await pair.handOver()
  const [[cursor, found]] = (await ask(['EXEC'])) as [[string, string[]]]
  expect(cursor).toBe('0')
  expect(found.length).toBeGreaterThanOrEqual(MANY)
}

test('an invalid cursor, or a scan that is too long, gets the error of an engine', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using client = await dialAsker(endpoint.wanted.port)
  expect(await client.ask(['SCAN', 'x'])).toMatchObject({ error: expect.stringContaining('invalid cursor') })
  expect(await client.ask(['SCAN'])).toMatchObject({ error: expect.stringContaining('wrong number') })
  const long = 'k'.repeat(1_200_000)
  expect(await client.ask(['HSCAN', long, '5'])).toMatchObject({
    error: expect.stringContaining('wrong number'),
  })
  expect(await client.ask(['PING'])).toBe('PONG')
})

test('a scan of a sharded database misses no group, whichever one hands over in the middle', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await using client = await dialAsker(cluster.port)
  for (const key of keyOf) await fill(client, key)
  const scans = new Map(
    keyOf.flatMap((key) => [...beginScans(key)].filter(([[name]]) => name !== 'SCAN' || key === keyOf[0])),
  )
  for (const [group, upTo] of [MANY / 2, MANY, 1.5 * MANY, 2.5 * MANY].entries()) {
    await proceed(scans, client.ask, upTo)
    await cluster.handOver(group % 3)
  }
  await proceed(scans, client.ask)
  expectAll(scans, 3 * MANY)
})

test.for([2])(
  'a scan goes on in another thread, and after the proxy was killed: %i workers',
  async (workers) => {
    await using pair = await makePair()
    await using proxy = await runProxy({ workers })
    const params = { id: 'bdb-1' }
    const wanted = makeEndpointSpec(await freePort(), pair.a.port)
    await proxy.client.putEndpoint({ params, body: wanted })
    await using client = await dialAsker(wanted.port)
    await fill(client)
    const scans = beginScans()
    /** Each step on a connection of its own, so that any thread may serve it. */
    const anywhere: Asker['ask'] = async (words) => {
      await using one = await dialAsker(wanted.port)
      return await one.ask(words)
    }
    await proceed(scans, anywhere, MANY / 3)
    await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })
    await pair.moveRole()
    await proxy.client.switchEndpoint({ params, body: { upstream: { host, port: pair.b.port } } })
    await proceed(scans, anywhere, MANY / 2)
    // Killed at once: the switch may not be on disk yet. Then the engine counts as another process.
    proxy.process().kill('SIGKILL')
    await once(proxy.process(), 'exit')
    await until(async () => (await pair.a.admin('INFO replication')).includes('master_link_status:up'))
    await pair.moveRole()
    await proxy.start()
    await proxy.client.putEndpoint({ params, body: wanted })
    await proceed(scans, anywhere)
    expectAll(scans)
  },
)

test('cursors in a reply are replaced in whatever pieces it comes, and a reply without cursors is unchanged', () => {
  const replies = ['-ERR invalid cursor\r\n', '+QUEUED\r\n', '*-1\r\n', '_\r\n', '*0\r\n']
  for (const text of replies) expect(String(markReply(Buffer.from(text), true, 7))).toBe(text)
  const cursors = fc.bigInt({ min: 0n, max: 2n ** 48n - 1n })
  fc.assert(
    fc.property(
      cursors,
      fc.nat(65_535),
      fc.nat(65_535),
      fc.integer({ min: 1, max: 40 }),
      (value, own, other, cut) => {
        const text = String(value)
        const reply = Buffer.from(`*2\r\n$${text.length}\r\n${text}\r\n*1\r\n$1\r\na\r\n`)
        const early = markReply(reply.subarray(0, cut), false, own)
        const marked =
          early === null ? markReply(reply, true, own) : Buffer.concat([early, reply.subarray(cut)])
        if (marked === null) throw new Error('not marked')
        const [given] = parseReply(marked) as [string]
        expect(BigInt(given)).toBeLessThan(2n ** 64n)
        const asked = (generation: number) =>
          String(argsForEngine({ name: 'SCAN', args: [Buffer.from(given)], cutShort: false }, generation)[0])
        expect(asked(own)).toBe(text)
        if (other !== own) expect(asked(other)).toBe('0')
        const exec = Buffer.concat([Buffer.from('*4\r\n:1\r\n'), reply, Buffer.from('*1\r\n*0\r\n'), reply])
        const marking = createExecMarking([1, 3], own)
        const told: Buffer[] = []
        for (let at = 0; at < exec.length; at += cut)
          told.push(...markNext(marking, exec.subarray(at, at + cut)))
        expect(parseReply(Buffer.concat(told))).toEqual([1, [given, ['a']], [[]], [given, ['a']]])
      },
    ),
  )
})

test('only the beginning of a scan is kept of the reply to a transaction with scans', () => {
  const reply = Buffer.from(`*3\r\n$100000\r\n${'x'.repeat(100_000)}\r\n*2\r\n$1\r\n5\r\n*0\r\n+OK\r\n`)
  const marking = createExecMarking([1], 0)
  let came = 0
  let went = 0
  for (let at = 0; at < reply.length; at += 7) {
    came += reply.subarray(at, at + 7).length
    went += markNext(marking, reply.subarray(at, at + 7)).reduce((all, { length }) => all + length, 0)
    expect(came - went).toBeLessThan(64)
  }
  // The cursor has five digits more.
  expect(went - came).toBe('6\r\n327680'.length - '1\r\n5'.length)
  for (const none of ['*-1\r\n', '_\r\n', '-EXECABORT no\r\n', '+OK\r\n'])
    expect(String(Buffer.concat(markNext(createExecMarking([0], 7), Buffer.from(none))))).toBe(none)
})

test('generations continue after those that a killed process used', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'generations-')), 'cursors.json')
  const taken = new Set<number>()
  for (const count of [1, 31, 150, 5, 1]) {
    const generations = await openGenerations(path, () => undefined)
    for (let n = 0; n < count; n += 1) {
      const one = generations.take()
      expect(taken.has(one)).toBe(false)
      taken.add(one)
      // The write ends a moment later, before the next process begins.
      if (n % 40 === 39) await generations[Symbol.asyncDispose]()
    }
    await generations[Symbol.asyncDispose]()
  }
  await rm(dirname(path), { recursive: true })
})

import { messageOf } from '@fairlead/engine'
import type { Client, Library, Login } from './clients.ts'
import { portsOf } from './ports-of.ts'

/** Clients that work on a database, with a check of each result. */
export interface Work {
  /** The number of answers, of all clients together. */
  answers(): number
  /** Ends the work. Answers what was wrong, in sentences; empty when nothing was. */
  stop(): Promise<Findings>
}

export interface Findings {
  readonly wrong: readonly string[]
  /** Client connections at the end. */
  readonly connections: number
  /** Client connections that did not exist at the beginning, or do not exist at the end. */
  readonly reconnects: number
  /** The longest time in which a client got no answer, in milliseconds. */
  readonly longestStallMs: number
}

/** Each client sends one request at a time, as fast as it is answered. */
const WORKERS = 8
const WARM_UP = 500
/**
 * How long a client waits for an item, in seconds. Valkey GLIDE gives up half a second after that by itself,
 * while its item may be on the way: a stall of the machine is shorter.
 */
const WAITS = '60'
/** The item that ends the wait. */
const LAST = 'the last one'
const SCRIPT = "return redis.call('INCR', KEYS[1])"

/**
 * Starts clients of one library: counters that must count every INCR once, by itself, in transactions and in
 * scripts; a queue whose items must come out once and in order, to the clients that wait for them; a channel
 * whose messages must come in order.
 */
export async function startWork(library: Library, login: Login): Promise<Work> {
  const run: Run = { login, wrong: [], isOver: false, answers: 0, longestStallMs: 0, before: null }
  const { wrong } = run
  const clients: Pick<Client, 'close'>[] = []
  const open = async () => {
    const client = await library.connect(login)
    clients.push(client)
    return client
  }
  const loop = (what: string, act: () => Promise<void>) => repeat(what, act, run)
  const expectSame = (what: string, got: unknown, expected: unknown) => {
    if (String(got) !== String(expected))
      wrong.push(`${what}: ${String(got)} in place of ${String(expected)}`)
  }

  const counters = await Promise.all(
    Array.from({ length: WORKERS }, async (_, n) => createCounter(n, await open(), expectSame)),
  )
  const [producer, consumer, publisher] = [await open(), await open(), await open()]
  let [pushed, popped, published, received] = [0, 0, 0, 0]
  const subscriber = await library.subscribe(login, 'news', (message) => {
    received += 1
    expectSame('message', message, received)
  })
  clients.push(subscriber)

  const running = [
    ...counters.map((count, n) => loop(`counter ${n}`, count)),
    loop('queue in', async () => {
      pushed += 1
      await producer.call('RPUSH', 'queue', String(pushed))
      while (pushed - popped > 100 && !run.isOver) await new Promise((resolve) => setTimeout(resolve, 1))
    }),
    loop('queue out', async () => {
      const [, item] = ((await consumer.call('BLPOP', 'queue', WAITS)) ?? []) as readonly unknown[]
      if (item === undefined || String(item) === LAST) return
      popped += 1
      expectSame('item', item, popped)
    }),
    loop('publish', async () => {
      published += 1
      expectSame('receivers', await publisher.call('PUBLISH', 'news', String(published)), 1)
    }),
  ]
  return {
    answers: () => run.answers,
    async stop() {
      const after = portsOf(login.port)
      run.isOver = true
      await producer.call('RPUSH', 'queue', LAST)
      await Promise.all(running)
      for (const until = performance.now() + 60_000; received < published && performance.now() < until; )
        await new Promise((resolve) => setTimeout(resolve, 5))
      expectSame('messages', received, published)
      await Promise.all(clients.map((client) => client.close()))
      const known = run.before ?? after
      const changed = [...known, ...after].filter((port) => known.has(port) !== after.has(port))
      const longestStallMs = Math.round(run.longestStallMs)
      return { wrong, connections: after.size, reconnects: changed.length, longestStallMs }
    },
  }
}

interface Run {
  readonly login: Login
  readonly wrong: string[]
  isOver: boolean
  answers: number
  longestStallMs: number
  /** The ports of clients once all of them were connected. */
  before: ReadonlySet<string> | null
}

/** Repeats the work until the run is over, and records what went wrong. */
async function repeat(what: string, act: () => Promise<void>, run: Run): Promise<void> {
  for (let last = performance.now(); !run.isOver; ) {
    await act().catch((cause: unknown) => {
      if (!run.isOver) run.wrong.push(`${what}: ${messageOf(cause)}`)
    })
    run.answers += 1
    // Once every client is connected, and the first attempts of a library are over.
    if (run.answers === WARM_UP) run.before = portsOf(run.login.port)
    const now = performance.now()
    run.longestStallMs = Math.max(run.longestStallMs, now - last)
    last = now
  }
}

type ExpectSame = (what: string, got: unknown, expected: unknown) => void

/**
 * Raises the counter number `n` by one at each call, in each of three ways in turn, and expects its new
 * value.
 */
function createCounter(n: number, client: Client, expectSame: ExpectSame): () => Promise<void> {
  const key = `counter:{${n}}` // with its copy in one slot
  let count = 0
  return async () => {
    count += 1
    if (count % 10 === 0) {
      const [answer, set] = await client.transaction([
        ['INCR', key],
        ['SET', `copy:{${n}}`, String(count)],
      ])
      expectSame(`transaction on ${key}`, [answer, set], [count, 'OK'])
    } else if (count % 10 === 5) {
      expectSame(`script on ${key}`, await client.call('EVAL', SCRIPT, '1', key), count)
    } else expectSame(key, await client.call('INCR', key), count)
  }
}

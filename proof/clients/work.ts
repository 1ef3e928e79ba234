import type { Client, Library, Login } from './clients.ts'
import { portsOf } from './ports-of.ts'

/** Clients at work on a database, each thing that they do checked against what it promises. */
export interface Work {
  /** Answers that came, of all clients together. */
  answers(): number
  /** Ends it. What was wrong, in sentences; empty when nothing was. */
  stop(): Promise<Findings>
}

export interface Findings {
  readonly wrong: readonly string[]
  /** Client connections that were not there at the beginning, or not at the end. */
  readonly reconnects: number
  /** The longest time in which a client got no answer, in milliseconds. */
  readonly longestStallMs: number
}

/** Each does one thing at a time, as fast as it is answered. */
const WORKERS = 8
const WARM_UP = 500
const SCRIPT = "return redis.call('INCR', KEYS[1])"

/**
 * Starts clients of one library: counters that must count every INCR once, by itself, in transactions and in scripts; a
 * queue whose items must come out once and in order, to who waits for them; a channel whose messages must come in order.
 */
export async function startWork(library: Library, login: Login): Promise<Work> {
  const wrong: string[] = []
  const state = { isOver: false, answers: 0, longestStallMs: 0 }
  const clients: Pick<Client, 'close'>[] = []
  let before: ReadonlySet<string> | null = null
  const open = async () => {
    const client = await library.connect(login)
    clients.push(client)
    return client
  }
  const loop = async (what: string, act: () => Promise<void>) => {
    for (let last = performance.now(); !state.isOver; ) {
      await act().catch((cause: unknown) => {
        if (!state.isOver) wrong.push(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`)
      })
      state.answers += 1
      // Once everybody is there, and what a library tried at first is gone.
      if (state.answers === WARM_UP) before = portsOf(login.port)
      const now = performance.now()
      state.longestStallMs = Math.max(state.longestStallMs, now - last)
      last = now
    }
  }
  const expectSame = (what: string, got: unknown, expected: unknown) => {
    if (String(got) !== String(expected))
      wrong.push(`${what}: ${String(got)} in place of ${String(expected)}`)
  }

  const counters = await Promise.all(
    Array.from({ length: WORKERS }, async (_, n) => {
      const client = await open()
      let count = 0
      return () =>
        loop(`counter ${n}`, async () => {
          count += 1
          const key = `counter:{${n}}` // with its copy in one slot
          if (count % 10 === 0) {
            const [answer, set] = await client.transaction([
              ['INCR', key],
              ['SET', `copy:{${n}}`, String(count)],
            ])
            expectSame(`transaction on ${key}`, [answer, set], [count, 'OK'])
          } else if (count % 10 === 5) {
            expectSame(`script on ${key}`, await client.call('EVAL', SCRIPT, '1', key), count)
          } else expectSame(key, await client.call('INCR', key), count)
        })
    }),
  )
  const { producer, consumer, publisher } = {
    producer: await open(),
    consumer: await open(),
    publisher: await open(),
  }
  let [pushed, popped, published, received] = [0, 0, 0, 0]
  const subscriber = await library.subscribe(login, 'news', (message) => {
    received += 1
    expectSame('message', message, received)
  })
  clients.push(subscriber)

  const running = [
    ...counters.map((count) => count()),
    loop('queue in', async () => {
      pushed += 1
      await producer.call('RPUSH', 'queue', String(pushed))
      while (pushed - popped > 100 && !state.isOver) await new Promise((resolve) => setTimeout(resolve, 1))
    }),
    loop('queue out', async () => {
      const item = await consumer.call('BLPOP', 'queue', '1')
      if (item === null) return
      popped += 1
      expectSame('item', (item as readonly unknown[])[1], popped)
    }),
    loop('publish', async () => {
      published += 1
      expectSame('receivers', await publisher.call('PUBLISH', 'news', String(published)), 1)
    }),
  ]
  return {
    answers: () => state.answers,
    async stop() {
      const after = portsOf(login.port)
      state.isOver = true
      await Promise.all(running)
      for (const until = performance.now() + 2_000; received < published && performance.now() < until; )
        await new Promise((resolve) => setTimeout(resolve, 5))
      expectSame('messages', received, published)
      await Promise.all(clients.map((client) => client.close()))
      const known = before ?? after
      const changed = [...known, ...after].filter((port) => known.has(port) !== after.has(port))
      return { wrong, reconnects: changed.length, longestStallMs: Math.round(state.longestStallMs) }
    },
  }
}

import { once } from 'node:events'
import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { campaign } from '../../../../../proof/campaign.ts'
import { makeCluster } from '../../sharded-stage.ts'
import { dial, makePair, type RawClient, until } from '../../stage.ts'

/*
 * Clients that are busy all the time: their requests are postponed in pieces, and handovers come between the
 * pieces. Each has keys of its own, so that its replies are known.
 */

const { seed, times } = campaign()
const ROUNDS = times('byte-streams', 2)
const CLIENTS = 24
const MOST_AWAITED = 200_000
/** A client is busy when it has sent this much. */
const BUSY_BYTES = 10_000

interface Exchange {
  readonly sent: string
  readonly wanted: string
}

/**
 * The next request of the client `me`, and its expected reply. `next` gives a number from 0 to below its
 * argument.
 */
function converse(me: string, next: (below: number) => number): () => Exchange {
  const values = new Map<string, string>()
  let count = 0
  let listed: string[] = []
  const ask = (...words: readonly (string | number)[]) => String(encodeCommand(words.map(String)))
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
  const keyNumber = (n: number) => `{${me}}-${n}`
  const set = (): Exchange => {
    const key = keyNumber(next(300))
    const value = 'v\r\n'.repeat(next(next(4) === 0 ? 20_000 : 20))
    values.set(key, value)
    return { sent: ask('SET', key, value), wanted: '+OK\r\n' }
  }
  const kinds: (() => Exchange)[] = [
    set,
    set,
    () => {
      const key = keyNumber(next(300))
      const value = values.get(key)
      return { sent: `GET '${key}'\r\n`, wanted: value === undefined ? '$-1\r\n' : bulk(value) }
    },
    () => {
      const asked = Array.from({ length: 1 + next(200) }, () => keyNumber(next(300)))
      const found = asked
        .map((key) => values.get(key))
        .map((value) => (value === undefined ? '$-1\r\n' : bulk(value)))
      return { sent: ask('MGET', ...asked), wanted: `*${found.length}\r\n${found.join('')}` }
    },
    () => {
      const times = 1 + next(400)
      const counts = Array.from({ length: times }, () => `:${++count}\r\n`)
      const queued = '+QUEUED\r\n'.repeat(times)
      const inside = ask('INCR', `{${me}}count`).repeat(times)
      return {
        sent: `${ask('MULTI')}${inside}${ask('EXEC')}`,
        wanted: `+OK\r\n${queued}*${times}\r\n${counts.join('')}`,
      }
    },
    () => {
      const words = Array.from({ length: 1 + next(2_000) }, (_, n) => `${n}`)
      listed = [...listed, ...words]
      return { sent: `RPUSH {${me}}list ${words.join(' ')}\r\n`, wanted: `:${listed.length}\r\n` }
    },
    () => {
      const all = listed
      listed = []
      const told = `*${all.length}\r\n${all.map(bulk).join('')}`
      return {
        sent: ask('LRANGE', `{${me}}list`, 0, -1) + ask('DEL', `{${me}}list`),
        wanted: `${told}:${all.length === 0 ? 0 : 1}\r\n`,
      }
    },
    () => {
      const times = 1 + next(800)
      return { sent: 'PING\r\n'.repeat(times), wanted: '+PONG\r\n'.repeat(times) }
    },
    () => {
      count += 1
      const script = "return {redis.call('INCR', KEYS[1]), ARGV[1]}"
      return {
        sent: ask('EVAL', script, 1, `{${me}}count`, 'said'),
        wanted: `*2\r\n:${count}\r\n$4\r\nsaid\r\n`,
      }
    },
    () => {
      const name = `n${next(1_000)}`
      return { sent: `CLIENT SETNAME ${name}\r\n${ask('CLIENT', 'GETNAME')}`, wanted: `+OK\r\n${bulk(name)}` }
    },
  ]
  return () => (kinds[next(kinds.length)] ?? set)()
}

/**
 * Sends as fast as possible until it is stopped, then waits for the last reply. `onSent` hears of each
 * request's number of bytes.
 */
async function keepBusy(
  client: RawClient,
  exchange: () => Exchange,
  { signal, onSent }: { readonly signal: AbortSignal; readonly onSent: (bytes: number) => void },
): Promise<void> {
  let wanted = ''
  while (!signal.aborted) {
    const { sent, wanted: more } = exchange()
    wanted += more
    onSent(sent.length)
    if (!client.socket.write(sent))
      await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')])
    if (client.ended()) break
    // Right replies are not kept, and only as many requests are under way as are soon answered.
    while (wanted.length > MOST_AWAITED && !client.ended()) {
      await until(
        () => client.text().length > 0 || client.ended(),
        () => tell(wanted, client),
      )
      const { length } = client.text()
      expect(length).toBeLessThanOrEqual(wanted.length)
      await client.gets(wanted.slice(0, length))
      wanted = wanted.slice(length)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(
    () => client.text().length >= wanted.length || client.ended(),
    () => tell(wanted, client),
  )
  await client.gets(wanted)
  expect(client.text()).toBe('')
}

function tell(wanted: string, client: RawClient): string {
  const got = client.text()
  let same = 0
  while (same < got.length && got[same] === wanted[same]) same += 1
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, same - 60), same + 60))
  return `${got.length} of ${wanted.length} bytes came, ${same} are the same: wanted ${around(wanted)}, got ${around(got)}`
}

function chance(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test(
  'requests of busy clients of two endpoints are carried out once, and answered in order, through many handovers',
  async () => {
    await using stack = new AsyncDisposableStack()
    const pair = stack.use(await makePair())
    const cluster = stack.use(await makeCluster({ withReplicas: true }))
    const stop = new AbortController()
    const busy: Promise<void>[] = []
    const sent = Array.from({ length: CLIENTS }, () => 0)
    for (let n = 0; n < CLIENTS; n += 1) {
      const isSharded = n % 2 === 1
      const client = stack.use(await dial(isSharded ? cluster.port : pair.port))
      const onSent = (bytes: number) => {
        sent[n] = (sent[n] ?? 0) + bytes
      }
      busy.push(keepBusy(client, converse(`c${n}`, chance(seed + n)), { signal: stop.signal, onSent }))
    }
    const handovers = (async () => {
      await until(() => sent.every((bytes) => bytes > BUSY_BYTES))
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all([pair.handOver(), cluster.handOver(round % 3)])
      }
    })()
    await handovers.finally(() => stop.abort())
    await Promise.all(busy)
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, repoints: ROUNDS })
    expect(cluster.endpoint.report()).toMatchObject({ errors: 0 })
  },
  60_000 + ROUNDS * 20_000,
)

import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { thereAndBack } from '../../../proof/way-back.ts'

const { from } = usualPair()
const seconds = campaign().times('queues', 60)
/** Workers of each kind. The endpoint gives up commands before a hold from 50 on (unblocked-clients.ts). */
const WORKERS = 200
const EVERY_MS = 10

/** A blocking command: what it takes from a queue, and how elements get there. All keys are of one slot. */
interface Kind {
  readonly name: string
  /** Answers the elements that it got; none after a time without any. */
  readonly take: (client: Redis, worker: number) => Promise<readonly string[]>
  /** Undefined: nothing is pushed for it. */
  readonly push?: (client: Redis, element: string) => Promise<unknown>
}

const values = (found: unknown): readonly string[] => (found === null ? [] : [String(found)])
const kinds: readonly Kind[] = [
  {
    name: 'BLPOP',
    push: (client, element) => client.rpush('{q}blpop', element),
    take: async (client) => values((await client.blpop('{q}blpop', 1))?.[1] ?? null),
  },
  {
    name: 'BRPOP',
    push: (client, element) => client.lpush('{q}brpop', element),
    take: async (client) => values((await client.brpop('{q}brpop', 1))?.[1] ?? null),
  },
  {
    name: 'BLMOVE',
    push: (client, element) => client.rpush('{q}blmove', element),
    take: async (client) => values(await client.blmove('{q}blmove', '{q}done', 'LEFT', 'RIGHT', 1)),
  },
  {
    name: 'BLMPOP',
    push: (client, element) => client.rpush('{q}blmpop', element),
    take: async (client) => {
      const found = (await client.call('BLMPOP', 1, 1, '{q}blmpop', 'LEFT')) as [string, string[]] | null
      return found?.[1] ?? []
    },
  },
  {
    name: 'BZPOPMIN',
    push: (client, element) => client.zadd('{q}bzpopmin', 1, element),
    take: async (client) => values((await client.bzpopmin('{q}bzpopmin', 1))?.[1] ?? null),
  },
  {
    name: 'XREADGROUP',
    push: (client, element) => client.xadd('{q}group', '*', 'element', element),
    take: async (client, worker) => {
      const words = ['GROUP', 'workers', `w${worker}`, 'COUNT', '1', 'BLOCK', '1000', 'NOACK']
      return elementsOf(await client.call('XREADGROUP', ...words, 'STREAMS', '{q}group', '>'))
    },
  },
  {
    name: 'XREAD',
    take: async (client) => {
      await client.call('XREAD', 'BLOCK', '1000', 'STREAMS', '{q}group', '$')
      return []
    },
  },
  {
    name: 'WAIT',
    take: async (client) => {
      await client.wait(9, 1_000)
      return []
    },
  },
]

/** Finds the elements in a reply of RESP2 (a list of pairs) or RESP3 (a map). Each entry has one field. */
function elementsOf(found: unknown): readonly string[] {
  const words = Array.isArray(found) ? (found.flat(9) as readonly string[]) : []
  return words.filter((_, n) => words[n - 1] === 'element')
}

test.for([
  ['one group', {}],
  ['two groups', { shards_count: 2 }],
  ['one group, over TLS', { tls_mode: 'enabled' }],
] as const)(
  `${WORKERS} workers of each blocking command notice nothing of upgrades and rollbacks in a loop: %s`,
  { timeout: (seconds + 300) * 1_000 },
  async ([, shape]) => {
    await using fairlead = await startFairlead()
    const body = { name: 'queues', memory_size: 0, engine_version: from, ...shape }
    const { uid, port, password } = await createDatabase(fairlead, body)
    const { ca_cert: ca } = await fairlead.api.getCertificates({})
    await using stack = new AsyncDisposableStack()
    const trouble: string[] = []
    const count = { reconnects: 0 }
    let isOver = false
    const connect = (protocol: 2 | 3) => {
      const client = new Redis({
        host: '127.0.0.1',
        port,
        username: 'default',
        password,
        enableReadyCheck: false,
        maxRetriesPerRequest: null,
        protocol,
        ...('tls_mode' in shape && { tls: { ca, checkServerIdentity: () => undefined } }),
      })
      client.on('error', (cause) => trouble.push(String(cause)))
      client.on('reconnecting', () => {
        count.reconnects += 1
      })
      stack.defer(() => client.disconnect())
      return client
    }
    const pusher = connect(3)
    await pusher.xgroup('CREATE', '{q}group', 'workers', '$', 'MKSTREAM')
    const pushed = new Set<string>()
    const taken = new Map<string, number>()
    const work = async (kind: Kind, worker: number, client: Redis) => {
      while (!isOver) {
        const elements = await kind.take(client, worker).catch((cause: unknown) => {
          trouble.push(`${kind.name}: ${cause}`)
          return []
        })
        for (const element of elements) taken.set(element, (taken.get(element) ?? 0) + 1)
      }
    }
    const working: Promise<void>[] = []
    for (const kind of kinds)
      for (let n = 0; n < WORKERS; n += 1) {
        const client = connect(n % 2 === 0 ? 2 : 3)
        // In turn: an endpoint takes so many TLS handshakes at once (docs/reference/limits.md).
        if (n % 20 === 19) await client.ping()
        working.push(work(kind, n, client))
      }
    let next = 0
    const timer = setInterval(() => {
      for (const { name, push } of kinds) {
        if (push === undefined) continue
        const element = `${name} ${next++}`
        push(pusher, element).then(
          () => pushed.add(element),
          (cause: unknown) => trouble.push(`push: ${cause}`),
        )
      }
    }, EVERY_MS)
    stack.defer(() => clearInterval(timer))

    const began = performance.now()
    let upgrades = 0
    while (performance.now() - began < seconds * 1_000 && trouble.length === 0) {
      await thereAndBack(fairlead, uid)
      upgrades += 1
    }
    clearInterval(timer)
    await until('all is taken', () => taken.size >= pushed.size)
    isOver = true
    await Promise.all(working)
    const what = `${upgrades} upgrades, ${pushed.size} elements`
    expect([...new Set(trouble)].slice(0, 5), what).toEqual([])
    expect(count.reconnects, what).toBe(0)
    expect([...taken].filter(([, times]) => times > 1).slice(0, 5), what).toEqual([])
    expect([...pushed].filter((element) => !taken.has(element)).slice(0, 5), what).toEqual([])
  },
)

import {
  type ClusterEvent,
  createClient,
  fetchStreamTransport,
  fetchTransport,
  operations,
} from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { until } from '../../../proof/until.ts'
import { startServers } from '../../support/start-servers.ts'

const { from, to } = usualPair()

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

test.skipIf(postgresHere() === null)(
  'a follower that goes from server to server during an upgrade misses nothing, and gets nothing twice',
  { timeout: 240_000 },
  async () => {
    if (postgres === undefined) throw new Error('there is no PostgreSQL')
    await using servers = await startServers(postgres, 2)
    const { fairlead, members } = servers
    const [one] = members
    if (one === undefined) throw new Error('there is none')
    const whole = members.map((member) => follow(member.url(), fairlead.token))
    for (const { seen } of whole) await until('the snapshot', () => seen.some(isLive))
    const start = whole.flatMap(({ seen }) => seen.filter(isLive)).map(({ seq }) => seq)

    let isOver = false
    const changing = (async () => {
      const body = { name: 'watched', memory_size: 0, replication: true, engine_version: from }
      const { uid, action_uid } = await one.api.createDatabase({ body })
      await fairlead.untilEnded(action_uid)
      const asked = await one.api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
      await fairlead.untilEnded(asked.action_uid)
      await one.api.createRole({ body: { name: 'last', management: 'none' } })
    })().finally(() => {
      isOver = true
    })
    // A few events at one server, then those after them at the other.
    const wandering: ClusterEvent[] = []
    let last = Math.min(...start)
    for (let n = 0; !isOver || n % 2 === 1 || !wandering.some(isLast); n += 1) {
      const here = follow(members[n % members.length]?.url() ?? '', fairlead.token, last)
      await until('three events, or the end', () => here.seen.length >= 3 || isOver)
      if (isOver) await until('the last', () => [...wandering, ...here.seen].some(isLast))
      await here.stop()
      wandering.push(...here.seen)
      last = Math.max(last, ...seqsOf(here.seen))
    }
    await changing
    for (const { seen } of whole) await until('the last, at each', () => seen.some(isLast))
    for (const { stop } of whole) await stop()

    expect(wandering.filter(({ type }) => type === 'snapshot')).toEqual([])
    const seqs = seqsOf(wandering)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    // Of several changes of one object, only the last is told to a follower that comes later: not those of
    // databases, but each of all others.
    for (const { seen } of whole) {
      const after = seen.slice(seen.findIndex(isLive) + 1)
      expect(told(wandering)).toEqual(told(after).filter((seq) => seq > Math.min(...start)))
    }
    expect(told(wandering).length).toBeGreaterThan(10)
  },
)

type Placed = Extract<ClusterEvent, { readonly type: 'live' }>
const isLive = (event: ClusterEvent): event is Placed => event.type === 'live'
const isLast = (event: ClusterEvent) =>
  event.type === 'audit' && event.record.type === 'role_created' && event.record.details['name'] === 'last'
const seqsOf = (events: readonly ClusterEvent[]) =>
  events.flatMap((event) => ('seq' in event && event.seq !== undefined ? [event.seq] : []))
/** The places of events that are told one by one. */
const told = (events: readonly ClusterEvent[]) =>
  seqsOf(events.filter(({ type }) => type !== 'database' && type !== 'node' && type !== 'live'))

/** Follows everything in the background, after `from` if there is one. */
function follow(url: string, token: string, from?: number) {
  const stop = new AbortController()
  const seen: ClusterEvent[] = []
  const client = createClient(operations, fetchTransport(url), () => token, fetchStreamTransport(url))
  const query = from === undefined ? {} : { last_event_id: String(from) }
  const followed = (async () => {
    for await (const event of client.followEvents({ query }, { signal: stop.signal })) seen.push(event)
  })().catch((cause: unknown) => cause)
  return {
    seen,
    async stop() {
      stop.abort(new Error('enough'))
      await followed
    },
  }
}

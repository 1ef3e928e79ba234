import {
  type ClusterEvent,
  createClient,
  fetchStreamTransport,
  fetchTransport,
  operations,
  Refusal,
} from '@fairlead/api'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../../../../proof/until.ts'
import type { Caller, Grant } from '../../../../../src/core/identity/access.ts'
import { fairlead } from '../../../../../src/core/identity/audit-record.ts'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { onlyLoopback } from '../../../../../src/core/state/endpoint-reach.ts'
import type { LaneRecord } from '../../../../../src/core/state/lane-record.ts'
import { createActions } from '../../../../../src/fleet/actions/actions-service.ts'
import type { ViewsQuery } from '../../../../../src/fleet/databases/databases-service.ts'
import { createEventFeed, type EventFeed } from '../../../../../src/fleet/events/event-feed.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { createHttp } from '../../../../../src/http/create-http.ts'
import { mountOn } from '../../../../../src/http/mount.ts'
import { auditStore } from '../../../../../src/identity/stores/audit-store.ts'
import { actionsRoutes } from '../../../../../src/routes/fleet/actions-routes.ts'
import { createClusterEvents } from '../../../../../src/routes/stream/cluster-events.ts'
import { eventsRoutes } from '../../../../../src/routes/stream/events-routes.ts'
import { eventNumbersStore, MOST_BEHIND } from '../../../../../src/store/event-numbers-store.ts'
import type { Db, Store } from '../../../../../src/store/open-store.ts'
import { isOnPostgres, openTestStore } from '../../../../open-test-store.ts'
import { databaseOf } from '../../../../records.ts'

const at = '2026-11-21T12:00:00.000Z'
const admin: Grant = { management: 'admin', databases: null }
const viewerOfTwo: Grant = { management: 'db_viewer', databases: [2] }
let store: Store
let port = 0
let server: Awaited<ReturnType<typeof serve>>
/** By token. */
let grants: Record<string, readonly Grant[]>
let isAgentAway = false
let agentAnswers = Promise.resolve()
const opened: (() => unknown)[] = []

beforeEach(async () => {
  store = await openTestStore(':memory:')
  grants = { admin: [admin], limited: [viewerOfTwo], none: [{ management: 'none', databases: null }] }
  isAgentAway = false
  agentAnswers = Promise.resolve()
  port = 0
  server = await serve()
  port = Number(new URL(server.url).port)
  for (const name of ['orders', 'carts']) {
    const wanted = databaseOf({ name, userPassword: 'the-user-secret' })
    await store.transaction((db) => databasesStore(db).insert({ ...wanted, groups: 1 }))
  }
})
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
  await server.close()
  await store[Symbol.asyncDispose]()
})

/** Databases as they are on record, and a node. */
function sourcesOf(of: Store) {
  const databases = {
    async get(uid: number) {
      const database = await databasesStore(of.db).get(uid)
      if (database === undefined) throw new Refusal('db_not_exist')
      return { database, shards: [], action: undefined, reach: onlyLoopback }
    },
    async list({ only, offset = 0, limit = 0, after }: ViewsQuery) {
      const page = await databasesStore(of.db).page({ offset, limit, only, after })
      return page.map((database) => ({ database, shards: [], action: undefined, reach: onlyLoopback }))
    },
  }
  const facts = { uid: 1, host: '127.0.0.1', cores: 2, memoryTotalBytes: 8, memoryFreeBytes: 4 }
  const nodes = {
    describe: async () => {
      await agentAnswers
      return isAgentAway
        ? null
        : ({ ...facts, diskFreeBytes: Math.floor(performance.now()), modules: [] } as never)
    },
  }
  return { databases, nodes, marks: { of: () => undefined } }
}

const eventsOf = (feed: EventFeed, of = store) =>
  createClusterEvents({
    store: of,
    feed,
    ...sourcesOf(of),
    now: () => Date.parse(at),
    log: pino({ level: 'silent' }),
  })

async function serve(of = store, on = port, heartbeatMs = 20) {
  const many = { most: 1_000, mostOfSource: 1_000, mostOfUser: 1_000 }
  const identify = (header: string | undefined, { address }: { readonly address: string }): Caller => {
    const name = header?.slice('Bearer '.length) ?? ''
    const own = grants[name]
    if (own === undefined) throw new Refusal('unauthorized')
    return { user: { uid: 1, name, grants: own }, address, token: null }
  }
  const http = createHttp({
    identify,
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    placeLimits: many,
    streamLimits: { heartbeatMs },
  })
  const feed = createEventFeed(of)
  const mount = mountOn(http)
  eventsRoutes(mount, eventsOf(feed, of), sourcesOf(of).databases)
  actionsRoutes(mount, createActions({ store: of, feed }), { give: async () => '' })
  const url = await http.listen({ host: '127.0.0.1', port: on })
  return { url, close: () => http.close() }
}

type Query = Parameters<ReturnType<typeof clientFor>['followEvents']>[0]['query']
const clientFor = (token: () => string, url = server.url) =>
  createClient(operations, fetchTransport(url), token, fetchStreamTransport(url))

/** Follows in the background, from its call on. */
function follow(query: Query = {}, token = () => 'admin', url?: string) {
  const seen: ClusterEvent[] = []
  const stop = new AbortController()
  const events = clientFor(token, url).followEvents({ query: query ?? {} }, { signal: stop.signal })
  const ended = (async () => {
    for await (const event of events) seen.push(event)
  })().catch((cause: unknown) => cause)
  opened.push(async () => {
    stop.abort(new Error('enough'))
    await ended
  })
  const typesOf = () => seen.map(({ type }) => type)
  return { seen, ended, typesOf, isLive: () => until('live', () => typesOf().includes('live')) }
}
const first = (number: number, of: { readonly seen: readonly ClusterEvent[] }) =>
  until(`${number} events`, () => (of.seen.length >= number ? of.seen : undefined))

const begin = (uid: string, databaseUid: number) => {
  const goal = steadyGoal(databaseOf({ uid: databaseUid }))
  return store.transaction((db) => actionsStore(db).insert({ uid, databaseUid, kind: 'upgrade', goal }, at))
}
/** Writes number and row of an event in one transaction, like the server: followers could miss it else. */
const record = (user: number, databaseUid?: number) =>
  store.transaction((db) => recordIn(db, user, databaseUid))
const recordIn = (db: Db, user: number, databaseUid?: number) =>
  auditStore(db).append(
    {
      type: 'user_created',
      by: fairlead,
      details: { user },
      ...(databaseUid !== undefined && { databaseUid }),
    },
    at,
  )
const lane = (lagBytes: number): LaneRecord => ({
  group: 0,
  state: 'running',
  handedOver: false,
  waiting: null,
  steps: [],
  leftOut: 0,
  toCome: [],
  sync: null,
  lagBytes,
})

test('a follower is told what is there, and then what happens: actions with their lanes, databases, nodes, the audit', async () => {
  await begin('a', 1)
  await store.transaction((db) =>
    actionsStore(db).update('a', { status: 'running', progress: 10, lanes: [lane(1)] }, at),
  )
  await store.transaction((db) => actionsStore(db).update('a', { progress: 20, lanes: [lane(2)] }, at))
  const one = follow()
  await one.isLive()
  expect(one.seen).toMatchObject([
    { type: 'snapshot', reason: 'start' },
    { type: 'action', action_uid: 'a', bdb_uid: 1, status: 'active', progress: 20 },
    { type: 'lanes', action_uid: 'a', lanes: [{ group: 0, state: 'running', lag_bytes: 2 }] },
    { type: 'database', bdb_uid: 1, database: { name: 'orders', status: 'pending' } },
    { type: 'database', bdb_uid: 2, database: { name: 'carts' } },
    { type: 'node', node_uid: 1, node: { status: 'active', cores: 2 } },
    { type: 'live', seq: expect.any(Number) },
  ])
  expect(one.seen.slice(0, -1).filter((event) => 'seq' in event)).toEqual([])

  await store.transaction((db) => actionsStore(db).update('a', { progress: 30, lanes: [lane(3)] }, at))
  await store.transaction((db) => databasesStore(db).setStatus(2, 'active', at))
  await record(7)
  await first(11, one) // of several changes at once the last one is told
  await store.transaction((db) => databasesStore(db).remove(2))
  await first(12, one)
  expect(one.seen.slice(7)).toMatchObject([
    { type: 'action', action_uid: 'a', bdb_uid: 1, progress: 30 },
    { type: 'lanes', action_uid: 'a', bdb_uid: 1, lanes: [{ group: 0, lag_bytes: 3 }] },
    { type: 'database', bdb_uid: 2, database: { status: 'active' } },
    { type: 'audit', record: { type: 'user_created', details: { user: 7 } } },
    { type: 'database', bdb_uid: 2, database: null },
  ])
  expect(JSON.stringify(one.seen)).not.toContain('secret')
})

test('topics and a database are chosen by the query, and an idle cluster says nothing', async () => {
  await begin('a', 1)
  await begin('b', 2)
  const [audit, two] = [follow({ topics: 'audit' }), follow({ database: 2, topics: 'databases,actions' })]
  await Promise.all([audit.isLive(), two.isLive()])
  expect(audit.typesOf()).toEqual(['snapshot', 'live'])
  expect(two.seen).toMatchObject([
    ...[
      { type: 'snapshot' },
      { action_uid: 'b' },
      { bdb_uid: 2, database: { name: 'carts' } },
      { type: 'live' },
    ],
  ])
  const numbers = () =>
    store.db.selectFrom('counters').selectAll().where('name', '=', 'action_event').execute()
  const before = await numbers()
  // Some heartbeats long: nothing is written, and nothing said.
  const idle = await fetch(`${server.url}/v1/events?topics=audit`, {
    headers: { authorization: 'Bearer admin' },
  })
  let beats = 0
  for await (const chunk of idle.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    beats += chunk.split(':\n\n').length - 1
    if (beats >= 5) break
  }
  expect(await numbers()).toEqual(before)
  expect([audit.seen.length, two.seen.length]).toEqual([2, 4])
  await record(1, 1)
  await record(2, 2)
  await store.transaction((db) => actionsStore(db).update('a', { progress: 1 }, at))
  await store.transaction((db) => actionsStore(db).update('b', { progress: 2 }, at))
  await Promise.all([first(4, audit), first(5, two)])
  expect(audit.seen.slice(2)).toMatchObject([{ record: { bdb_uid: '1' } }, { record: { bdb_uid: '2' } }])
  expect(two.seen.slice(4)).toMatchObject([{ type: 'action', action_uid: 'b', progress: 2 }])
})

test('a node that is lost and found is told, and what it has free is not', async () => {
  const one = follow({ topics: 'nodes' })
  await one.isLive()
  isAgentAway = true
  // A follower that comes looks at the nodes; so does a clock.
  const other = follow({ topics: 'nodes' })
  await first(4, one)
  expect(one.seen.at(-1)).toMatchObject({ node: { status: 'down', addr: '127.0.0.1', cores: 2 } })
  await other.isLive()
  expect(other.seen[1]).toMatchObject({ type: 'node', node: { status: 'down' } })
})

test('a follower gets what is known of a node while the agent does not answer, and hears of it when it does', async () => {
  await follow({ topics: 'nodes' }).isLive()
  const { promise, resolve } = Promise.withResolvers<void>()
  ;[agentAnswers, isAgentAway] = [promise, true]
  const one = follow({ topics: 'nodes' })
  await one.isLive()
  resolve()
  await first(4, one)
  const heard = one.seen.flatMap((event) => (event.type === 'node' ? [event.node?.status] : []))
  expect(heard).toEqual(['active', 'down'])
})

test('users see what their roles let them see, also when these change while they follow', async () => {
  const send = async (query: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const { status, body } = await fetch(`${server.url}/v1/events${query}`, { headers })
    await body?.cancel()
    return status
  }
  expect(await send('', 'none')).toBe(403)
  expect(await send('', 'unknown')).toBe(401)
  expect(await send('?topics=audit', 'limited')).toBe(403)
  expect(await send('?database=1', 'limited')).toBe(403)
  expect(await send('?database=9', 'admin')).toBe(404)
  expect(await send('?topics=tables', 'admin')).toBe(400)

  await begin('a', 1)
  await begin('b', 2)
  const one = follow({ topics: 'actions,databases' }, () => 'limited')
  await one.isLive()
  await store.transaction((db) => actionsStore(db).update('a', { progress: 1 }, at))
  await store.transaction((db) => actionsStore(db).update('b', { progress: 2 }, at))
  await first(5, one)
  const about = () => one.seen.map((event) => ('bdb_uid' in event ? event.bdb_uid : event.type))
  expect(about()).toEqual(['snapshot', 2, 2, 'live', 2])

  grants['limited'] = [{ management: 'db_viewer', databases: [1] }]
  await first(9, one)
  expect(about().slice(5)).toEqual(['snapshot', 1, 1, 'live'])
  expect(one.seen[5]).toMatchObject({ reason: 'permissions' })
  await store.transaction((db) => actionsStore(db).update('b', { progress: 3 }, at))
  await store.transaction((db) => actionsStore(db).update('a', { progress: 4 }, at))
  await first(10, one)
  expect(about().slice(9)).toEqual([1])

  delete grants['limited']
  expect(await one.ended).toMatchObject({ code: 'unauthorized' })
  expect(about()).toHaveLength(10)
})

async function collect(events: AsyncIterable<{ readonly seq: number }>): Promise<readonly number[]> {
  const seqs: number[] = []
  for await (const { seq } of events) seqs.push(seq)
  return seqs
}

// invariant: One number is a follower's place among all events, over restarts of the server.
test('a stream whose token ends says so, and one that is resumed goes on after its last event, over restarts of the server', async () => {
  grants['short'] = [admin]
  const short = await fetch(`${server.url}/v1/events?topics=audit`, {
    headers: { authorization: 'Bearer short' },
  })
  delete grants['short']
  expect(await short.text()).toMatch(/event: cut\ndata: \{"type":"cut","reason":"not_admitted",.*\n\n$/)

  const one = follow({ topics: 'audit,databases' })
  await one.isLive()
  const users: number[] = []
  for (let n = 0; n < 60; n += 1) {
    users.push(n)
    await store.transaction((db) => recordIn(db, n))
    if (n % 20 !== 10) continue
    await server.close()
    await store.transaction((db) => recordIn(db, 1_000 + n))
    users.push(1_000 + n)
    server = await serve()
  }
  const records = () =>
    one.seen.flatMap((event) => (event.type === 'audit' ? event.record.details['user'] : []))
  await until('all records', () => records().length >= users.length)
  expect(records()).toEqual(users)
  expect(one.typesOf().filter((type) => type === 'snapshot')).toHaveLength(1)
})

// invariant: A follower that is too far back gets a gap and a fresh snapshot.
test('what came after an unknown place, or one that is too far back, is told as a gap with a fresh snapshot', async () => {
  await record(1)
  const raised = await store.db
    .selectFrom('counters')
    .select('value')
    .where('name', '=', 'action_event')
    .execute()
  const last = raised[0]?.value ?? 0
  const startsWith = async (from: number) => {
    const one = follow({ topics: 'databases', last_event_id: String(from) })
    await first(1, one)
    return one.seen[0]
  }
  expect(await startsWith(last + 1)).toMatchObject({ type: 'snapshot', reason: 'gap' })
  expect(await startsWith(0)).toMatchObject({ type: 'database', bdb_uid: 1 })
  await store.transaction((db) => eventNumbersStore(db).noteGone(1))
  expect(await startsWith(0)).toMatchObject({ type: 'snapshot', reason: 'gap' })
  expect(await startsWith(1)).toMatchObject({ type: 'database', bdb_uid: 2 })
  const counters = store.db.updateTable('counters').set({ value: last + MOST_BEHIND + 2 })
  await counters.where('name', '=', 'action_event').execute()
  expect(await startsWith(1)).toMatchObject({ type: 'snapshot', reason: 'gap' })
})

test('many follow one action and many everything: each gets each event once and in order, from one reader of the store', async () => {
  await begin('a', 1)
  const [ofAction, ofAll, changes] = isOnPostgres ? [50, 5, 100] : [200, 20, 100]
  // Heartbeats as often as in other tests would be most of the work.
  const { url, close } = await serve(store, 0, 3_600_000)
  opened.push(close)
  const everything = Array.from({ length: ofAll }, () => follow({ topics: 'actions,audit' }, undefined, url))
  await Promise.all(everything.map((one) => one.isLive()))
  const ended: Promise<readonly number[]>[] = []
  for (let n = 0; n < ofAction; n += 1) {
    const events = clientFor(() => 'admin', url).followAction({ params: { uid: 'a' }, query: {} })
    ended.push(collect(events))
  }
  for (let n = 1; n <= changes; n += 1) {
    await store.transaction(async (db) => {
      await actionsStore(db).update('a', { waitingFor: `turn ${n}` }, at)
      if (n % 5 === 0) await recordIn(db, n, 1)
    })
    if (n % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await store.transaction((db) => actionsStore(db).update('a', { status: 'done' }, at))
  const written = await store.db.selectFrom('action_events').select('seq').orderBy('seq').execute()
  const wanted = written.map(({ seq }) => seq)
  expect(wanted).toHaveLength(changes + 2)
  for (const seqs of await Promise.all(ended)) expect(seqs).toEqual(wanted)
  const audit = await store.db.selectFrom('audit').select('event_seq').execute()
  const all = [...wanted.slice(1), ...audit.map(({ event_seq }) => event_seq ?? 0)].toSorted((a, b) => a - b)
  for (const one of everything) {
    const live = one.seen.findIndex(({ type }) => type === 'live')
    await until('all events', () => one.seen.length - live - 1 >= all.length)
    expect(one.seen.slice(live + 1).map((event) => 'seq' in event && event.seq)).toEqual(all)
  }
})

test.runIf(isOnPostgres)('a follower goes on at another server where it was at the first', async () => {
  await using here = await openTestStore('events-of-both')
  await using there = await openTestStore('events-of-both')
  const ends = [await serve(here, 0), await serve(there, 0)] as const
  opened.push(() => Promise.all(ends.map((end) => end.close())))
  const users = (of: { readonly seen: readonly ClusterEvent[] }) =>
    of.seen.flatMap((event) => (event.type === 'audit' ? [event.record.details['user']] : []))
  const first = follow({ topics: 'audit' }, undefined, ends[0].url)
  await first.isLive()
  for (let n = 0; n < 20; n += 1) await (n % 2 === 0 ? here : there).transaction((db) => recordIn(db, n))
  await until('all at the first', () => users(first).length === 20)
  const tenth = first.seen.filter(({ type }) => type === 'audit')[9]
  const from = tenth?.type === 'audit' ? tenth.seq : 0
  const second = follow({ topics: 'audit', last_event_id: String(from) }, undefined, ends[1].url)
  await until('the rest at the second', () => users(second).length === 10)
  await there.transaction((db) => recordIn(db, 20))
  await until('what comes then, at both', () => users(first).length === 21 && users(second).length === 11)
  expect(users(first)).toEqual(Array.from({ length: 21 }, (_, n) => n))
  expect(users(second)).toEqual(users(first).slice(10))
})

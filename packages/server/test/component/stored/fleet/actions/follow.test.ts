import { createClient, fetchStreamTransport, fetchTransport, operations, Refusal } from '@fairlead/api'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../../../../src/core/identity/access.ts'
import type { ActionNews, Certificate } from '../../../../../src/core/state/action.ts'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { createActions } from '../../../../../src/fleet/actions/actions-service.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { handoversStore } from '../../../../../src/fleet/stores/handovers-store.ts'
import { createHttp } from '../../../../../src/http/create-http.ts'
import { mountOn } from '../../../../../src/http/mount.ts'
import { actionsRoutes } from '../../../../../src/routes/fleet/actions-routes.ts'
import type { Store } from '../../../../../src/store/open-store.ts'
import { isOnPostgres, openTestStore } from '../../../../open-test-store.ts'
import { databaseOf } from '../../../../records.ts'

const at = '2026-11-21T12:00:00.000Z'
let store: Store
let port: number
let server: Awaited<ReturnType<typeof serve>>
/** Tokens that are good: names of users. `limited` may see database 2 only. */
let tokens: Set<string>

beforeEach(async () => {
  store = await openTestStore(':memory:')
  tokens = new Set(['admin', 'limited'])
  port = 0
  server = await serve()
  port = Number(new URL(server.url).port)
  const database = await databasesStore(store.db).insert({
    name: 'orders',
    build: { flavour: 'valkey', version: '8.1.1' },
    restartNonce: 0,
    modules: [],
    clientsKnowShards: false,
    shardTls: false,
    tls: false,
    endpointPort: null,
    memoryBytes: 0,
    replicas: 1,
    persistence: 'disabled',
    aofFsync: 'everysec',
    snapshots: [],
    evictionPolicy: 'noeviction',
    groups: 1,
    cluster: false,
    adminPassword: 'the-admin-secret',
    userPassword: 'the-user-secret',
    createdAt: at,
  })
  // The events of the action have the first numbers.
  await store.db.deleteFrom('changes').execute()
  await store.db.updateTable('counters').set({ value: 0 }).where('name', '=', 'action_event').execute()
  await actionsStore(store.db).insert(
    { uid: 'a', databaseUid: 1, kind: 'upgrade', goal: steadyGoal(database) },
    at,
  )
})
afterEach(async () => {
  await server.close()
  await store[Symbol.asyncDispose]()
})

async function serve() {
  const http = createHttp({
    identify: (header, { address }) => {
      const name = header?.slice('Bearer '.length) ?? ''
      if (!tokens.has(name)) throw new Refusal('unauthorized')
      return { user: { uid: 1, name, grants: [grantOf(name)] }, address, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    streamLimits: { heartbeatMs: 20 },
  })
  actionsRoutes(mountOn(http), createActions({ store }), { give: async () => '' })
  const url = await http.listen({ host: '127.0.0.1', port })
  return { url, close: () => http.close() }
}

function grantOf(name: string): Caller['user']['grants'][number] {
  return name === 'limited'
    ? { management: 'db_viewer', databases: [2] }
    : { management: 'admin', databases: null }
}

const update = (news: ActionNews) => store.transaction((db) => actionsStore(db).update('a', news, at))
const request = (headers: Record<string, string> = {}, query = '', token = 'admin') =>
  fetch(`${server.url}/v1/actions/a/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(60_000),
  })
const clientFor = (token: () => string) =>
  createClient(operations, fetchTransport(server.url), token, fetchStreamTransport(server.url))
const follow = (token = () => 'admin') => clientFor(token).followAction({ params: { uid: 'a' }, query: {} })

async function collect<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

const waits = { holdReason: 'replication', waitingFor: 'a replica to load' } as const
const waitsOnWire = { hold_reason: 'replication', waiting_for: 'a replica to load' }

test('an action is followed from its beginning to its end, and the changed fields add up to its state', async () => {
  await update({ status: 'running', progress: 10, step: 'add-shard', ...waits })
  const response = await request()
  expect(response.headers.get('content-type')).toMatch('text/event-stream')
  const whole = response.text()
  await update({ holdReason: null, waitingFor: '', progress: 60 })
  await update({ progress: 60, pending: [] }) // fields that events do not report
  await update({ status: 'done', progress: 100, step: '' })

  const text = await whole
  // A heartbeat may come first.
  expect(text).toMatch(/^(?::\n\n)*id: 1\nevent: action\ndata: \{"seq":1,"type":"action"/)
  expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true)
  const sent = [...text.matchAll(/^data: (\{"seq.*)$/gm)].map(([, json = '']) => JSON.parse(json) as object)
  expect(sent).toMatchObject([
    { seq: 1, status: 'pending', progress: 0, needs_person: false, undo: false },
    { seq: 2, status: 'active', progress: 10, state: 'add-shard', ...waitsOnWire },
    { seq: 3, hold_reason: null, waiting_for: '', progress: 60 },
    { seq: 4, status: 'completed', progress: 100, state: '' },
  ])
  expect(sent[2]).toEqual({
    seq: 3,
    type: 'action',
    time: at,
    hold_reason: null,
    waiting_for: '',
    progress: 60,
  })
  expect(text).not.toContain('secret')
})

test('a handover is an event when the role has moved, and again when its full syncs are counted', async () => {
  const handovers = handoversStore(store.db)
  const certificate: Certificate = {
    from: 1,
    to: 3,
    replid: 'r',
    offsetFrom: 7,
    offsetTo: 7,
    keys: 3,
    writeStopMs: 1.5,
    heldMs: null,
    recovered: false,
    fullSyncs: null,
    at,
  }
  const intent = {
    databaseUid: 1,
    from: 1,
    to: 3,
    fullSyncsBefore: {},
    group: 0,
    standby: { shard: 1, runId: 'run', errorReplies: 0 },
    intendedAt: at,
  }
  const asked = await handovers.intend({ ...intent, actionUid: 'a' })
  await handovers.certify(asked.id, certificate)
  await handovers.close(asked.id, { ...certificate, fullSyncs: 0 }, at)
  const inVain = await handovers.intend({ ...intent, actionUid: 'a' })
  await handovers.close(inVain.id, null, at)
  const failover = await handovers.intend({ ...intent, actionUid: null })
  await handovers.certify(failover.id, certificate)
  await update({ status: 'done' })

  const events = await collect(follow())
  expect(events.filter(({ type }) => type === 'handover')).toMatchObject([
    { certificate: { from: '1', to: '3', offset_from: 7, full_syncs: null } },
    { certificate: { from: '1', to: '3', offset_to: 7, full_syncs: 0 } },
  ])
})

// invariant: A follower of an action gets every event once, in order.
test('a client that resumes with the last id gets every event once and in order, while others are written', async () => {
  const writing = (async () => {
    for (let n = 1; n < 400; n += 1) {
      await update({ waitingFor: `turn ${n}` })
      if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await update({ status: 'done' })
  })()
  const seen: number[] = []
  let connections = 0
  for (let isOver = false; !isOver; connections += 1) {
    const last = seen.at(-1)
    const response = await request(last === undefined ? {} : { 'last-event-id': String(last) })
    // Each connection is dropped in the middle of something: at any chunk, after any number of events.
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.length > 100 + 40 * (connections % 50)) break
    }
    for (const event of text.split('\n\n').slice(0, -1)) {
      const [, id] = /^id: (\d+)$/m.exec(event) ?? []
      if (id !== undefined) seen.push(Number(id))
      if (event.startsWith('event: end')) isOver = true
    }
  }
  await writing
  expect(seen).toEqual(Array.from({ length: 401 }, (_, n) => n + 1))
  expect(connections).toBeGreaterThan(5)
})

test('the typed client goes on where it was when the server is restarted', async () => {
  const states: unknown[] = []
  for await (const event of follow()) {
    if (event.type === 'action') states.push(event.state ?? event.status)
    if (event.seq === 1) await update({ step: 'wait' })
    if (event.seq === 2) {
      await server.close()
      await update({ step: 'hold' })
      server = await serve()
    }
    if (event.seq === 3) await update({ status: 'done' })
  }
  expect(states).toEqual(['', 'wait', 'hold', 'completed'])
})

test('a follower gets its end also if the action ends between the read of its state and of its events', async () => {
  await update({ step: 'wait' })
  let reads = 0
  const db = store.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows[0]?.['uid'] === 'a') reads += 1
      // The second pass: the first ends when the feed begins.
      if (reads === 2) await update({ status: 'done' })
      return result
    },
  })
  const signal = AbortSignal.timeout(10_000)
  const events = await collect(createActions({ store: { ...store, db } }).follow('a', 0, signal))
  expect([events.map(({ seq }) => seq), signal.aborted]).toEqual([[1, 2, 3], false])
})

test('a stream outlives no token: it closes, and another token goes on with it', async () => {
  const response = await request()
  const whole = response.text()
  tokens = new Set(['fresh'])
  await update({ step: 'wait' })
  expect(await whole).not.toContain('event: end')
  expect(await whole).not.toContain('"state":"wait"')

  tokens = new Set(['admin', 'fresh'])
  let token = 'admin'
  const seqs: number[] = []
  for await (const { seq } of follow(() => token)) {
    seqs.push(seq)
    if (seq === 1) continue
    if (seq === 2) {
      tokens = new Set(['fresh'])
      token = 'fresh'
      await update({ status: 'done' })
    }
  }
  expect(seqs).toEqual([1, 2, 3])
})

test('the query says where to go on for clients that cannot set a header; the header has precedence', async () => {
  await update({ status: 'done' })
  const ids = async (response: Response) =>
    [...(await response.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(await ids(await request({}, '?last_event_id=1'))).toEqual([2])
  expect(await ids(await request({ 'last-event-id': '0' }, '?last_event_id=1'))).toEqual([1, 2])
  expect(await ids(await request({ 'last-event-id': '2' }))).toEqual([])
  expect(await ids(await request({ 'last-event-id': '1' }, '?last_event_id=x'))).toEqual([2])
  for (const [headers, query] of [
    [{ 'last-event-id': 'x' }, ''],
    [{}, '?last_event_id=x'],
  ] as const) {
    const refused = await request(headers, query)
    expect([refused.status, await refused.json()]).toMatchObject([400, { error_code: 'invalid_request' }])
  }
})

test('a user who may not see an action may not follow it', async () => {
  const refused = await request({}, '', 'limited')
  expect([refused.status, await refused.json()]).toMatchObject([403, { error_code: 'forbidden' }])
  await expect(
    collect(clientFor(() => 'admin').followAction({ params: { uid: 'b' }, query: {} })),
  ).rejects.toMatchObject({ code: 'action_not_exist' })
})

test('while nothing happens, comments are sent', async () => {
  const response = await request({ 'last-event-id': '1' })
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    expect(chunk).toMatch(/^(:\n\n)+$/)
    break
  }
})

test.runIf(isOnPostgres)(
  'every server streams the events that another one writes, each once and in order',
  async () => {
    await using one = await openTestStore('shared')
    await using other = await openTestStore('shared')
    const { uid } = await databasesStore(one.db).insert({ ...databaseOf({ name: 'shared' }), groups: 1 })
    const action = { uid: 'a', databaseUid: uid, kind: 'upgrade', goal: steadyGoal(databaseOf()) } as const
    await actionsStore(one.db).insert(action, at)
    const signal = AbortSignal.timeout(60_000)
    const followers = [one, other].map((asked) =>
      collect(createActions({ store: asked }).follow('a', 0, signal)),
    )
    for (let n = 1; n < 50; n += 1)
      await actionsStore((n % 2 === 0 ? one : other).db).update('a', { waitingFor: `turn ${n}` }, at)
    await actionsStore(other.db).update('a', { status: 'done' }, at)
    for (const seen of await Promise.all(followers)) {
      // One counter numbers all events of the cluster; there is no other here meanwhile.
      const [{ seq: first } = { seq: 0 }] = seen
      expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 51 }, (_, n) => first + n))
    }
  },
)

test.runIf(isOnPostgres)(
  'a follower of an action gets its end also if a failover has lost the last events',
  async () => {
    await update({ step: 'wait' })
    const { uid } = await store.transaction((db) =>
      databasesStore(db).insert({ ...databaseOf({ name: 'other' }), groups: 1 }),
    )
    const other = { uid: 'b', databaseUid: uid, kind: 'upgrade', goal: steadyGoal(databaseOf()) } as const
    await store.transaction((db) => actionsStore(db).insert(other, at))
    const signal = AbortSignal.timeout(60_000)
    const actions = createActions({ store })
    const seen: number[] = []
    for await (const { seq } of actions.follow('a', 0, signal)) {
      seen.push(seq)
      if (seq !== 2) continue
      // All that was written is seen by then: this one comes last.
      for await (const event of actions.follow('b', 0, signal)) {
        if (event.seq > 3) break
        await store.transaction((db) => actionsStore(db).update('b', { step: 'wait' }, at))
      }
      // The replica has the first event only, and its numbers are given again.
      await store.db.deleteFrom('action_events').where('seq', '>', 1).execute()
      await store.db.updateTable('counters').set({ value: 1 }).where('name', '=', 'action_event').execute()
      await update({ status: 'done' })
    }
    expect([seen, signal.aborted]).toEqual([[1, 2], false])
  },
)

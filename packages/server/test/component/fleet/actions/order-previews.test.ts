import type { Action as ActionAnswer, OrderName } from '@fairlead/api'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { allOrders } from '../../../../src/core/requests/preview-orders.ts'
import { type Action, undoGoal } from '../../../../src/core/state/action.ts'
import { steadyGoal } from '../../../../src/core/state/database.ts'
import { onlyLoopback } from '../../../../src/core/state/endpoint-reach.ts'
import { type Goal, plainPolicy } from '../../../../src/core/state/goal.ts'
import { createActions } from '../../../../src/fleet/actions/actions-service.ts'
import { createOrders } from '../../../../src/fleet/actions/orders-service.ts'
import { createDatabases } from '../../../../src/fleet/databases/databases-service.ts'
import { actionsStore } from '../../../../src/fleet/stores/actions-store.ts'
import { databasesStore, type NewDatabase } from '../../../../src/fleet/stores/databases-store.ts'
import { handoversStore } from '../../../../src/fleet/stores/handovers-store.ts'
import { createHttp } from '../../../../src/http/create-http.ts'
import { mountOn } from '../../../../src/http/mount.ts'
import { actionsRoutes } from '../../../../src/routes/fleet/actions-routes.ts'
import type { Store } from '../../../../src/store/open-store.ts'
import { openTestStore } from '../../../open-test-store.ts'

const at = '2026-11-21T12:00:00.000Z'
const from = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] } as const
const to = { ...from, build: { flavour: 'valkey', version: '9.1.2' } } as const
const kept: NewDatabase = {
  ...from,
  name: 'orders',
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
  createdAt: at,
  adminPassword: 'a-secret-of-ours',
  userPassword: 'a-secret-of-theirs',
}

const supervised = { ...plainPolicy, supervised: true }
const windowed = { ...plainPolicy, rollbackWindow: 'until-finalized' } as const
const open = { eligible: true, obstacle: null, reason: '' }
const wait = { shard: null, until: null, stuck: false, why: 'it waits', since: at }

/** The states of an upgrade in which orders are asked for: its policy, and what is on record of it. */
const states: Readonly<Record<string, readonly [Goal['policy'], Partial<Action>]>> = {
  queued: [plainPolicy, {}],
  preparing: [plainPolicy, { status: 'running', wayBack: open }],
  ready: [supervised, { status: 'running', waiting: { ...wait, on: 'person', code: 'supervised' } }],
  paused: [plainPolicy, { status: 'running', orders: { paused: true, proceed: false, finalize: false } }],
  window: [windowed, { status: 'running', handedOverAt: at, wayBack: open }],
  'window that ends by itself': [
    { ...plainPolicy, rollbackWindow: 2_592_000 },
    { status: 'running', handedOverAt: new Date().toISOString(), wayBack: open },
  ],
  finishing: [plainPolicy, { status: 'running', handedOverAt: at, wayBack: open }],
  'without a way back': [
    plainPolicy,
    { status: 'running', wayBack: { eligible: false, obstacle: 'standby_gone', reason: 'no shard is left' } },
  ],
  stuck: [
    plainPolicy,
    { status: 'running', waiting: { ...wait, on: 'person', code: 'diverged', stuck: true } },
  ],
  undoing: [plainPolicy, { status: 'running', error: 'cancelled', ending: 'cancelled' }],
  done: [plainPolicy, { status: 'done' }],
  failed: [plainPolicy, { status: 'failed', error: 'no room', ending: 'failed' }],
}

let store: Store
let http: ReturnType<typeof createHttp>
/** No reconciler runs here: nothing goes on by itself. */
beforeEach(async () => {
  store = await openTestStore(':memory:')
  http = createHttp({
    identify: (header, { address }) => {
      const management = header === 'viewer' ? 'db_viewer' : 'admin'
      return {
        user: { uid: 1, name: 'eve', grants: [{ management, databases: null }] },
        address,
        token: null,
      }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const now = () => Date.parse(at)
  const unused = () => Promise.reject(new Error('nothing asks for this here'))
  const runExclusive = <T>(work: () => Promise<T>) => work()
  const nodes = {
    builds: async () => [],
    isFree: async () => true,
    describe: async () => null,
    dropModule: unused,
  }
  const databases = createDatabases({
    store,
    nodes: nodes as never,
    modules: { list: async () => [] },
    nudge: () => undefined,
    now,
    runExclusive,
    portRange: { from: 1, to: 2 },
    askedPorts: { from: 1, to: 2 },
    reach: () => onlyLoopback,
    shardTls: false,
  })
  const actions = createActions({ store, now })
  const mount = mountOn(http)
  actionsRoutes(mount, actions, createOrders({ store, databases, nudge: () => undefined, now }))
})
afterEach(async () => {
  await http.close()
  await store[Symbol.asyncDispose]()
})

async function send(method: 'GET' | 'POST', url: string, authorization = 'admin') {
  const answer = await http.inject({ method, url, headers: { authorization, host: 'localhost' } })
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() }
}

let made = 0
/** An upgrade in this state, of a database of its own. */
async function make(state: string): Promise<string> {
  made += 1
  const uid = `${state}-${made}`.replaceAll(' ', '-')
  const [policy, news] = states[state] ?? [plainPolicy, {}]
  const database = await databasesStore(store.db).insert({ ...kept, name: `orders-${made}` })
  const goal: Goal = { ...steadyGoal(database), ...to, from, policy }
  const asked = { request: { engine_version: 'valkey-9.1' }, requestedBy: 'eve' }
  await actionsStore(store.db).insert({ uid, databaseUid: database.uid, kind: 'upgrade', goal, ...asked }, at)
  const undone = state === 'undoing' ? { goal: undoGoal(goal) } : {}
  if (Object.keys(news).length > 0) await actionsStore(store.db).update(uid, { ...news, ...undone }, at)
  return uid
}
const show = async (uid: string, as = 'admin') =>
  (await send('GET', `/v1/actions/${uid}`, as)).body as unknown as ActionAnswer

test('an action says what was asked for by which user, from where to where, and which phase it is in', async () => {
  expect(await show(await make('ready'))).toMatchObject({
    phase: 'ready',
    outcome: null,
    bdb_uid: 1,
    requested_by: 'eve',
    began_time: at,
    ended_time: null,
    from: { engine: 'redis', engine_version: '7.0.15', modules: [] },
    goal: { engine: 'valkey', engine_version: '9.1.2', modules: [] },
    request: { engine_version: 'valkey-9.1' },
    waiting: {
      on: 'person',
      hold_reason: 'supervised',
      shard: null,
      since: at,
      until: null,
      why: 'it waits',
    },
  })
  for (const phase of ['queued', 'preparing', 'paused', 'window', 'finishing', 'stuck', 'undoing'])
    expect(await show(await make(phase))).toMatchObject({ phase, outcome: null })
  expect(await show(await make('done'))).toMatchObject({
    phase: 'ended',
    outcome: 'completed',
    ended_time: at,
  })
  expect(await show(await make('failed'))).toMatchObject({ phase: 'ended', outcome: 'failed' })
})

test('an order is offered if and only if giving it works, and its answer shows the state that it was to lead to', async () => {
  const offered = new Set<OrderName>()
  for (const state of Object.keys(states))
    for (const order of allOrders) {
      const uid = await make(state)
      const preview = (await show(uid)).orders[order]
      const { status, body } = await send('POST', `/v1/actions/${uid}/${order}`)
      const what = `${order} while ${state}`
      expect([what, status === 200]).toEqual([what, preview.ok])
      expect([what, preview.consequence === '', preview.why === '']).toEqual([what, !preview.ok, preview.ok])
      if (status === 200) {
        offered.add(order)
        expect([what, body['phase']]).toEqual([what, preview.leads_to])
      } else expect([what, body['error_code']]).toEqual([what, preview.error_code])
    }
  expect(offered.size).toBe(allOrders.length)
})

test('a pause says what it does: in a window that would end by itself, it keeps the way back', async () => {
  const consequenceIn = async (state: string) => (await show(await make(state))).orders.pause.consequence
  expect(await consequenceIn('window that ends by itself')).toContain(
    'the old primaries stay, and the way back',
  )
  expect(await consequenceIn('window')).toContain('it waits for a user already')
  expect(await consequenceIn('finishing')).toContain('nothing new begins')
})

test('a user that may give no orders is told which permission they need', async () => {
  const uid = await make('ready')
  const { orders } = await show(uid, 'viewer')
  for (const order of allOrders)
    expect(orders[order]).toMatchObject({
      ok: false,
      error_code: 'forbidden',
      consequence: '',
      leads_to: null,
      why: expect.stringContaining('update_bdb_with_action'),
    })
})

test('an order that is given changes what is shown at once: what was resumed is not to be resumed again', async () => {
  const uid = await make('ready')
  const { body } = await send('POST', `/v1/actions/${uid}/resume`)
  expect(body).toMatchObject({ phase: 'preparing', waiting: null, needs_person: false, waiting_for: '' })
  const cancelled = await send('POST', `/v1/actions/${uid}/cancel`)
  expect(cancelled.body).toMatchObject({
    phase: 'undoing',
    orders: { cancel: { ok: false }, rollback: { ok: false }, redo: { ok: true } },
  })
})

async function handOver(actionUid: string, writeStopMs: number, longestMs: number): Promise<void> {
  const handovers = handoversStore(store.db)
  const { id } = await handovers.intend({
    actionUid,
    databaseUid: made,
    group: 0,
    from: 1,
    to: 2,
    intendedAt: at,
    fullSyncsBefore: {},
    standby: { shard: 1, runId: 'run', errorReplies: 0 },
  })
  const proof = {
    replid: 'r',
    offsetFrom: 5,
    offsetTo: 5,
    keys: 3,
    heldMs: longestMs,
    waited: { clients: 1, requests: 1, longestMs },
    recovered: false,
    fullSyncs: 0,
  }
  await handovers.close(id, { from: 1, to: 2, ...proof, writeStopMs, at }, at)
}

test('what an order says of the write stop is what was measured, and before that an estimate that promises nothing', async () => {
  const consequenceOf = async (uid: string, order: OrderName) => (await show(uid)).orders[order].consequence
  const before = await make('ready')
  expect(await consequenceOf(before, 'resume')).toMatch(
    /moves to valkey 9\.1\.2; writes stop for about 5 ms on an idle machine, and for longer on a busy one$/,
  )
  const moved = await make('window')
  await handOver(moved, 397.04, 420.3)
  await handOver(moved, 5.38, 0)
  expect(await consequenceOf(moved, 'rollback')).toMatch(
    /without loss; writes stop again \(in the handovers before for up to 397\.0 ms, longest wait of a client 420\.3 ms; load changes it\)$/,
  )
})

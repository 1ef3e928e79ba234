import { Refusal } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { steadyGoal } from '../../../../../src/core/state/database.ts'
import { readTrace } from '../../../../../src/fleet/actions/actions-service.ts'
import { actionsStore } from '../../../../../src/fleet/stores/actions-store.ts'
import { databasesStore, type NewDatabase } from '../../../../../src/fleet/stores/databases-store.ts'
import { handoverTapesStore } from '../../../../../src/fleet/stores/handover-tapes-store.ts'
import { handoversStore } from '../../../../../src/fleet/stores/handovers-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { signInLimited } from '../../../../sign-in-limited.ts'

const database = (name: string): NewDatabase => ({
  name,
  build: { flavour: 'valkey', version: '8.1.1' },
  restartNonce: 0,
  modules: [],
  clientsKnowShards: false,
  shardTls: false,
  tls: false,
  endpointPort: null,
  memoryBytes: 0,
  replicas: 0,
  persistence: 'disabled',
  aofFsync: 'everysec',
  snapshots: [],
  evictionPolicy: 'noeviction',
  groups: 1,
  cluster: false,
  adminPassword: 'a-secret-of-ours',
  userPassword: 'a-secret-of-theirs',
  createdAt: '2026-11-21T12:00:00.000Z',
})
const minute = (n: number) => `2026-11-21T12:0${n}:00.000Z`

let fairlead: TestControlPlane
let admin: string
let limited: string

/** Databases 1 and 2 with two ended actions each, of which the newest is minute 4’s; database 3 is gone. */
beforeAll(async () => {
  fairlead = await startControlPlane()
  await fairlead.withStore(async ({ db }) => {
    const actions = actionsStore(db)
    const created = [
      await databasesStore(db).insert(database('one')),
      await databasesStore(db).insert(database('two')),
    ]
    for (const [n, uid] of [1, 2, 1, 2, 3].entries()) {
      const goal = steadyGoal({ ...database('x'), ...created[0], uid } as never)
      const kind = n < 2 ? 'create' : uid === 3 ? 'delete' : 'upgrade'
      await actions.insert({ uid: `action-${n}`, databaseUid: uid, kind, goal }, minute(n))
      const failed = n === 3
      await actions.update(
        `action-${n}`,
        {
          status: failed ? 'failed' : 'done',
          progress: failed ? 40 : 100,
          ...(failed && { error: 'no room' }),
        },
        minute(n + 1),
      )
    }
    const handovers = handoversStore(db)
    const intent = {
      databaseUid: 1,
      from: 1,
      to: 2,
      fullSyncsBefore: {},
      group: 0,
      standby: { shard: 1, runId: 'run', errorReplies: 0 },
      intendedAt: minute(2),
    }
    const { id } = await handovers.intend({ ...intent, actionUid: 'action-2' })
    const proof = {
      replid: 'r',
      offsetFrom: 5,
      offsetTo: 5,
      keys: 3,
      writeStopMs: 1,
      heldMs: null,
      recovered: false,
      fullSyncs: 0,
    }
    await handovers.close(id, { from: 1, to: 2, ...proof, at: minute(2) }, minute(2))
    // Of action 0: the first has a trace, the second has none, the third was interrupted.
    const parts = { hold: 1, pause: 2, equal: 1, promote: 3, release: 2 }
    const began = { holdAt: Date.parse(minute(2)), moveAfterMs: 1.5 }
    for (const seen of [{ began, heldMs: 10 }, { began, heldMs: 11 }, { recovered: true }]) {
      const of = await handovers.intend({ ...intent, actionUid: 'action-0' })
      await handovers.close(of.id, { from: 1, to: 2, ...proof, parts, ...seen, at: minute(2) }, minute(2))
      const counts = { replies: [7, 0, 8], held: [0, 2, 0], errors: [0, 0, 1] }
      if (seen.heldMs !== 10) continue
      const tapes = handoverTapesStore(db)
      // First before it was complete.
      await tapes.keep(of.id, { leadMs: 2_504, heldMs: 10, replies: [7], held: [0], errors: [0] })
      await tapes.keep(of.id, { leadMs: 2_504, heldMs: 10, ...counts })
    }
  })
  admin = await fairlead.signIn('admin', adminPassword)
  limited = await signInLimited(fairlead, admin, { management: 'db_viewer', uids: ['1'] })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const get = (path: string, auth = admin) => fairlead.send('GET', path, { auth })
const uids = (list: unknown) => (list as { action_uid: string }[]).map(({ action_uid }) => action_uid)

test('the first form lists the newest first, as state machines, with all that one of them shows', async () => {
  const { status, body } = await get('/v1/actions')
  expect([status, Object.keys(body), body['actions']]).toEqual([200, ['actions', 'state-machines'], []])
  const machines = body['state-machines'] as Record<string, unknown>[]
  expect(uids(machines)).toEqual([4, 3, 2, 1, 0].map((n) => `action-${n}`))
  expect(machines[1]).toMatchObject({
    status: 'failed',
    error: 'no room',
    progress: 40,
    object_name: 'bdb:2',
  })
  expect(machines[2]).toEqual((await get('/v1/actions/action-2')).body)
  expect(machines[2]).toMatchObject({
    name: 'SMUpgradeBDB',
    certificates: [{ from: '1', to: '2', offset_from: 5 }],
    heartbeat: Date.parse(minute(3)) / 1000,
    last_changed_time: minute(3),
  })
})

test('the second form is a plain array of its own shape', async () => {
  const { body } = await get('/v2/actions')
  expect(uids(body)).toEqual([4, 3, 2, 1, 0].map((n) => `action-${n}`))
  const one = await get('/v2/actions/action-3')
  expect((body as unknown as unknown[])[1]).toEqual(one.body)
  expect(one.body).toEqual({
    action_uid: 'action-3',
    action_type: 'state-machine',
    name: 'SMUpgradeBDB',
    status: 'failed',
    progress: 40,
    creation_time: Date.parse(minute(3)) / 1000,
    additional_info: {
      object_type: 'bdb',
      object_uid: '2',
      pending_ops: {},
      error: 'no room',
      hold_reason: null,
      description: '',
    },
  })
  expect(await get('/v2/actions/none')).toMatchObject({
    status: 404,
    body: { error_code: 'action_not_exist' },
  })
})

test('actions are listed by database, by status in each form’s words, and no more than asked for', async () => {
  expect(uids((await get('/v1/actions/bdb/2')).body)).toEqual(['action-3', 'action-1'])
  expect(uids((await get('/v1/actions/bdb/2?status=failed')).body)).toEqual(['action-3'])
  expect(uids((await get('/v1/actions?status=completed&limit=2')).body['state-machines'])).toEqual([
    'action-4',
    'action-2',
  ])
  expect(uids((await get('/v1/actions?limit=2&offset=3')).body['state-machines'])).toEqual([
    'action-1',
    'action-0',
  ])
  expect(uids((await get('/v2/actions?limit=2&offset=5')).body)).toEqual([])
  expect(uids((await get('/v1/actions/bdb/2?offset=1')).body)).toEqual(['action-1'])
  expect(uids((await get('/v1/actions?status=active')).body['state-machines'])).toEqual([])
  expect(uids((await get('/v2/actions?status=completed&limit=1')).body)).toEqual(['action-4'])
  for (const path of ['/v2/actions?status=active', '/v1/actions?limit=1001', '/v1/actions?page=2']) {
    expect((await get(path)).body).toMatchObject({ error_code: 'invalid_request' })
  }
  for (const gone of [3, 9]) {
    const { status, body } = await get(`/v1/actions/bdb/${gone}`)
    expect([status, body['error_code']]).toEqual([404, 'db_not_exist'])
  }
})

test('a user whose role is limited to databases sees the actions of those', async () => {
  expect(uids((await get('/v1/actions', limited)).body['state-machines'])).toEqual(['action-2', 'action-0'])
  expect(uids((await get('/v2/actions?limit=1', limited)).body)).toEqual(['action-2'])
  expect(uids((await get('/v1/actions/bdb/1', limited)).body)).toEqual(['action-2', 'action-0'])
  for (const path of [
    '/v1/actions/bdb/2',
    '/v1/actions/action-3',
    '/v2/actions/action-3',
    '/v1/actions/action-3/events',
  ]) {
    expect(await get(path, limited)).toMatchObject({ status: 403, body: { error_code: 'forbidden' } })
  }
})

test('the trace of a handover has the marks of its certificate; where there is none, an error says why', async () => {
  const trace = (uid: string, n: number | string, auth = admin) =>
    get(`/v1/actions/${uid}/handovers/${n}/trace`, auth)
  expect(await trace('action-0', 1, limited)).toMatchObject({
    status: 200,
    body: {
      action_uid: 'action-0',
      handover: 1,
      group: null,
      from: '1',
      to: '2',
      bucket_ms: 10,
      t0: new Date(Date.parse(minute(2)) - 2_504).toISOString(),
      replies: [7, 0, 8],
      held: [0, 2, 0],
      errors: [0, 0, 1],
      marks: {
        hold: { from: 2_504, to: 2_505 },
        pause: { from: 2_505.5, to: 2_507.5 },
        equal: { from: 2_507.5, to: 2_508.5 },
        promote: { from: 2_508.5, to: 2_511.5 },
        release: { from: 2_511.5, to: 2_513.5 },
      },
    },
  })
  const refused = async (...of: Parameters<typeof trace>) => {
    const { status, body } = await trace(...of)
    return [status, body['error_code']]
  }
  await fairlead.withStore(async ({ db }) => {
    const soon = Date.parse(minute(2)) + 2_000
    const code = (cause: unknown) => (cause instanceof Refusal ? cause.code : cause)
    expect(await readTrace({ uid: 'action-0', n: 2 }, db, soon).catch(code)).toBe('trace_not_ready')
  })
  expect(await refused('action-0', 2)).toEqual([404, 'trace_not_exist'])
  expect(await refused('action-0', 3)).toEqual([404, 'trace_not_exist'])
  expect(await refused('action-0', 4)).toEqual([404, 'trace_not_exist'])
  expect(await refused('action-2', 1)).toEqual([404, 'trace_not_exist'])
  expect(await refused('none', 1)).toEqual([404, 'action_not_exist'])
  expect(await refused('action-0', 0)).toEqual([400, 'invalid_request'])
  expect(await refused('action-3', 1, limited)).toEqual([403, 'forbidden'])
})

test('an action that ended is shown in full, without secrets', async () => {
  const response = await fetch(`${fairlead.url}/v1/actions/action-2/events`, {
    headers: { authorization: limited },
  })
  const text = await response.text()
  expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)).toEqual([
    'action',
    'action',
    'handover',
    'end',
  ])
  expect(text).not.toContain('secret')
})

test('a control plane stops also while clients follow an action, and goes on after its restart', async () => {
  await fairlead.withStore(({ db }) => {
    const goal = steadyGoal({ ...database('one'), uid: 1, groups: [{}] } as never)
    return actionsStore(db).insert({ uid: 'open', databaseUid: 1, kind: 'upgrade', goal }, minute(9))
  })
  // There is no agent here: the stream reports what the action waits for.
  const response = await fetch(`${fairlead.url}/v1/actions/open/events`, {
    headers: { authorization: admin },
  })
  let text = ''
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk
  })()
  await expect.poll(() => text).toMatch(/"hold_reason":"trouble","waiting_for":"it failed and is tried again/)
  // It would never end by itself.
  await fairlead.restart()
  await reading
  expect(text).not.toContain('event: end')
})

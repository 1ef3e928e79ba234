import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { CompiledQuery } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../test/records.ts'
import { groupOf } from '../../test/simulation/group.ts'
import { type Read, watchReads } from '../../test/watch-reads.ts'
import { loadConfig } from '../config/config.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import { steadyGoal } from '../core/state/database.ts'
import { onlyLoopback } from '../core/state/endpoint-reach.ts'
import { createDatabases } from '../fleet/databases/databases-service.ts'
import { actionsStore } from '../fleet/stores/actions-store.ts'
import { databasesStore } from '../fleet/stores/databases-store.ts'
import { handoversStore } from '../fleet/stores/handovers-store.ts'
import { shardsStore } from '../fleet/stores/shards-store.ts'
import { auditStore } from '../identity/stores/audit-store.ts'
import { usersStore } from '../identity/stores/users-store.ts'
import type { Nodes } from '../nodes/nodes-service.ts'
import type { Store } from '../store/open-store.ts'
import { assembleIdentity } from './assemble-identity.ts'
import type { Reconciling } from './assemble-reconciling.ts'
import { openInfrastructure } from './open-infrastructure.ts'
import { serveApi } from './serve-api.ts'

const PASSWORD = 'the-first-password'
const at = '2026-11-21T12:00:00.000Z'
const FIRST_PORT = 10_000

/**
 * Creates `count` databases, each with a shard, an ended action, a running action (except the first two), a
 * handover, a user and a record.
 */
async function fill(store: Store, count: number): Promise<void> {
  await store.transaction(async (db) => {
    for (let n = 1; n <= count; n += 1) {
      const like = databaseOf({ name: `db-${n}`, memoryBytes: 1e6, endpointPort: FIRST_PORT + 2 * n })
      const { uid } = await databasesStore(db).insert({ ...like, groups: 1 })
      const place = { databaseUid: uid, port: FIRST_PORT + 2 * n + 1 }
      const shard = await shardsStore(db).insert(shardOf(0, place), at)
      await databasesStore(db).setPrimary(uid, 0, shard.id)
      const actions = actionsStore(db)
      const action = { databaseUid: uid, kind: 'upgrade', goal: steadyGoal(databaseOf()) } as const
      await actions.insert({ ...action, uid: `ended-${n}` }, at)
      await actions.update(`ended-${n}`, { status: 'done' }, at)
      if (n > 2) await actions.insert({ ...action, uid: `runs-${n}` }, at)
      await handoversStore(db).intend({
        databaseUid: uid,
        group: 0,
        actionUid: `ended-${n}`,
        from: shard.id,
        to: shard.id,
        fullSyncsBefore: {},
        standby: { shard: 1, runId: '', errorReplies: 0 },
        intendedAt: at,
      })
      await usersStore(db).insert({ name: `user-${n}`, email: null, roleUids: [5] }, at)
      await auditStore(db).append({ type: 'bdb_created', by: fairlead, databaseUid: uid }, at)
    }
  })
}

/** All that answers a request is as it ships; the node is an answer, and nothing is reconciled. */
async function serve(home: string, count: number, opened: AsyncDisposableStack) {
  const env = { FAIRLEAD_HOME: home, FAIRLEAD_ADMIN_PASSWORD: PASSWORD, FAIRLEAD_PORT_RANGE: '10000-19999' }
  const config = loadConfig(env)
  // The clock is stopped, so that a value cached for a second is read equally often on slow and fast
  // machines.
  const startMs = Date.now()
  const world = { now: () => startMs, log: pino({ level: 'silent' }) }
  const ground = await openInfrastructure(config, world, opened)
  const identity = await assembleIdentity(ground, opened)
  await identity.cluster.ensure('admin', PASSWORD)
  await fill(ground.store, count)
  const build = {
    flavour: 'redis',
    version: '7.0.15',
    source: 'path',
    program: '',
    holes: [],
    refusedFor: [],
  }
  const report = { memoryTotalBytes: 1e12, memoryFreeBytes: 1e12, cores: 2, shards: [], host: '' }
  const nodes = {
    builds: async () => [build],
    knownBuilds: async () => [build],
    isFree: async () => true,
    list: async () => [{ uid: 1, host: '', report, known: report }],
    describe: async () => report,
    reportsOf: async () => [],
  } as unknown as Nodes
  const { store } = ground
  const modules = { list: async () => [] }
  const reach = () => onlyLoopback
  const databases = createDatabases({
    store,
    nodes,
    modules,
    nudge: () => undefined,
    now: world.now,
    portRange: config.portRange,
    askedPorts: config.askedPorts,
    reach,
    shardTls: false,
    runExclusive: (place) => place(),
  })
  const trials = { tryRuns: async () => ({ ok: true }) }
  const observer = { look: async () => ({ groups: [{ ...groupOf(0), group: 0 }] }) }
  const rest = { trials, observer, reach, tls: {}, nudge: () => undefined }
  const http = serveApi(ground, identity, { databases, nodes, modules, ...rest } as unknown as Reconciling)
  opened.defer(() => http.close())
  return { http, store }
}

const post = (url: string, payload: object = {}): InjectOptions => ({ method: 'POST', url, payload })
const limited = { 'x-limited': 'yes' }
/** Requests about one database, or one page. */
const requests: readonly InjectOptions[] = [
  post('/v1/users/authorize', { username: 'admin', password: PASSWORD }),
  { url: '/v1/bdbs/1' },
  { url: '/v1/bdbs/3' },
  { url: '/v1/bdbs/2/shards' },
  { url: '/v1/shards?limit=10' },
  { url: '/v1/shards/2' },
  { url: '/v1/bdbs?limit=10&offset=5' },
  { url: '/v1/bdbs', headers: limited },
  { url: '/v1/nodes', headers: limited },
  { url: '/v1/actions?limit=10&offset=5' },
  { url: '/v1/actions?limit=10&status=completed' },
  { url: '/v1/actions?limit=10', headers: limited },
  { url: '/v1/actions?limit=10&phase=ended&sort=created_time' },
  { url: '/v1/actions?limit=10&bdb_uid=2&sort=-last_changed_time' },
  { url: '/v1/actions/bdb/2' },
  { url: '/v1/actions/runs-3' },
  { url: '/v1/logs?limit=10&order=desc' },
  { url: '/v1/logs?limit=10', headers: limited },
  { url: '/v1/users?limit=10&offset=5' },
  { url: '/v1/users?limit=10&sort=-name' },
  { url: '/v1/users/2' },
  { method: 'PUT', url: '/v1/users/2', payload: { name: 'other' } },
  { url: '/v1/roles?limit=5' },
  post('/v1/actions/runs-3/pause'),
  post('/v1/bdbs/1/upgrade', { force_restart: true }),
  post('/v1/bdbs', { name: 'new', memory_size: 1_000_000_000, port: 10_000 }),
  { method: 'DELETE', url: '/v1/bdbs/2' },
]

/** Returns the rows and statements that each request read. */
async function costs(
  count: number,
): Promise<{ readonly costs: readonly Cost[]; readonly scans: readonly string[] }> {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-cost-'))
  try {
    await using opened = new AsyncDisposableStack()
    const { http, store } = await serve(home, count, opened)
    const admin = await signIn(http, 'admin')
    const role = { name: 'some', management: 'db_member', resources: [{ type: 'db', uids: ['1', '2'] }] }
    await http.inject({ ...post('/v1/roles', role), headers: { authorization: admin } })
    await http.inject({
      ...post('/v1/users', { name: 'lim', password: PASSWORD, role_uids: [8] }),
      headers: { authorization: admin },
    })
    const lim = await signIn(http, 'lim')
    const watch = opened.use(watchReads())
    const found: Cost[] = []
    for (const request of requests) {
      const authorization = request.headers === limited ? lim : admin
      const { answer, reads } = await watch.during(() =>
        // A promise: what it returns otherwise begins the request only when it is awaited.
        Promise.resolve(http.inject({ ...request, headers: { authorization } })),
      )
      const { statusCode } = answer
      found.push({ request: `${request.method ?? 'GET'} ${request.url}`, statusCode, reads })
    }
    return { costs: found, scans: await scansOf(found, store) }
  } finally {
    rmSync(home, { recursive: true })
  }
}

interface Cost {
  readonly request: string
  readonly statusCode: number
  readonly reads: readonly Read[]
}

async function signIn(http: FastifyInstance, username: string): Promise<string> {
  const answer = await http.inject(post('/v1/users/authorize', { username, password: PASSWORD }))
  return `Bearer ${answer.json<{ access_token: string }>().access_token}`
}

/** Tables with at least one row per database. */
const MANY =
  /^SCAN (databases|groups|shards|actions|action_events|handovers|audit|users|logins|passwords|user_roles)\b/

/**
 * Returns the statements for which SQLite would scan a table that can be large. A page reads from one end, as
 * do newest and oldest.
 */
async function scansOf(found: readonly Cost[], { db }: Store): Promise<readonly string[]> {
  const scans = new Set<string>()
  for (const { request, reads } of found)
    for (const { statement } of reads) {
      if (!/^(select|insert|update|delete|with)\b/.test(statement)) continue
      const parameters = Array.from({ length: statement.split('?').length - 1 }, () => 1)
      const { rows } = await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${statement}`, parameters),
      )
      const details = rows.map(({ detail }) => detail)
      const isPage =
        / limit \?/.test(statement) &&
        !details.some((detail) => detail.startsWith('USE TEMP B-TREE FOR ORDER'))
      for (const detail of details)
        if (MANY.test(detail) && !isPage && !detail.endsWith('COVERING INDEX databases_by_memory'))
          scans.add(`${request}: ${detail}: ${statement}`)
    }
  return [...scans]
}

// invariant: The rows that a request reads do not depend on the number of databases.
test('a request about one database, or for one page, reads as much with 300 databases as with 30, and looks at no others', async () => {
  const few = await costs(30)
  const many = await costs(300)
  const rowsOf = ({ request, statusCode, reads }: Cost) =>
    `${request} ${statusCode}: ${reads.reduce((sum, { rows }) => sum + rows, 0)} rows, ${reads.length} statements`
  expect(few.costs.flatMap(({ reads }) => reads).length).toBeGreaterThan(requests.length)
  expect(many.costs.map(rowsOf)).toEqual(few.costs.map(rowsOf))
  expect(many.costs.filter(({ statusCode }) => statusCode !== 200).map(({ request }) => request)).toEqual([])
  expect(many.scans).toEqual([])
  const [login] = many.costs
  // Each takes about a hundredth of the time of an Argon2id hash, for which logins on two cores queue.
  expect(login?.reads.length).toBeLessThanOrEqual(16)
})

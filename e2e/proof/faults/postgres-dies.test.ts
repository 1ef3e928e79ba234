import { randomBytes } from 'node:crypto'
import { type Action, ApiError } from '@fairlead/api'
import { type Load, startLoad } from '@fairlead/ledger'
import { loadConfig, verifyAuditOf } from '@fairlead/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { type PostgresRelay, startRelay } from '../../../packages/server/test/postgres-relay.ts'
import { campaign } from '../../../proof/campaign.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from } = usualPair()
const { seed, times } = campaign()

type Fault = 'killed' | 'frozen' | 'restarted' | 'sessions ended' | 'cut' | 'half' | 'unanswered'
const everyFault = ['killed', 'frozen', 'restarted', 'sessions ended', 'cut', 'half', 'unanswered'] as const
const some = (n: number): Fault => everyFault[(seed + n * 3) % everyFault.length] ?? 'killed'
const faults: readonly Fault[] = Array.from({ length: times('postgres', 1) }, (_, n) => some(n))

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

test.skipIf(postgresHere() === null)(
  `PostgreSQL dies, hangs, or its connections are cut while an upgrade runs and clients make changes: ${faults.join(', ')}`,
  { timeout: 180_000 + faults.length * 180_000 },
  async () => {
    await using world = await startWorld()
    const { fairlead, load } = world
    for (const [n, fault] of faults.entries()) {
      await load.untilAcked(load.acked() + 100)
      const actionUid = await restartOf(world)
      const changes = makeChanges(fairlead, `fault-${n}`, world.told)
      await inject(world, fault, n)
      const action = await world.ended(actionUid)
      await changes.end()
      expect([fault, action]).toMatchObject([fault, { status: 'completed' }])
    }
    await readBack(load)
    await checkTold(world)
    expect((await verifyAuditOf(loadConfig(fairlead.environment), undefined)).fault).toBeUndefined()
  },
)

test.skipIf(postgresHere() === null)(
  'PostgreSQL fails over to a replica a second behind while an upgrade runs: no write is lost, the upgrade ends, and the audit says what is missing',
  { timeout: 480_000 },
  async () => {
    await using world = await startWorld()
    const { fairlead, load, relay, uid } = world
    await using way = await startRelay(world.postgres.folder)
    await using replica = await world.postgres.follow(way.folder)
    const lsnOf = async (ask: TestPostgres['run'], which: string) =>
      (await ask(`select ${which}() - '0/0' as lsn`))[0]?.['lsn']
    await fairlead.api.createUser({ body: userOf('kept') })
    const kept = Number(await lsnOf(world.postgres.run, 'pg_current_wal_lsn'))
    await until(
      'the replica has it',
      async () => Number(await lsnOf(replica.run, 'pg_last_wal_replay_lsn')) >= kept,
    )
    await load.untilAcked(load.acked() + 100)
    const actionUid = await restartOf(world)
    await until('it has begun', async () => (await actionOf(fairlead, actionUid))?.progress !== 0)
    const order = Number(await lsnOf(world.postgres.run, 'pg_current_wal_lsn'))
    await until(
      'the replica has this record',
      async () => Number(await lsnOf(replica.run, 'pg_last_wal_replay_lsn')) >= order,
    )
    way.freeze()
    // Changes from now on are answered, and only the PostgreSQL that dies has them.
    await fairlead.api.createUser({ body: userOf('lost') })
    const counter = async (name: string) =>
      (await world.postgres.run(`select value from counters where name = '${name}'`, world.database))[0]?.[
        'value'
      ]
    const lost = Number(await counter('audit'))
    await until('the server has logged it', async () => Number(await counter('audit_logged')) >= lost)
    await world.postgres.stop('killed')
    await replica.takeOver()
    relay.aim(replica.folder)
    relay.repair()
    expect(await world.ended(actionUid)).toMatchObject({ status: 'completed' })
    expect(await world.ended(await restartOf(world))).toMatchObject({ status: 'completed' })
    const names = (await fairlead.api.listUsers({ query: {} })).map(({ name }) => name)
    expect(names).toContain('kept')
    expect(names).not.toContain('lost')
    await readBack(load)
    const events = async () =>
      (await fairlead.api.listLogs({ query: { limit: 1_000 } })).map(({ type }) => type)
    await until('the loss is on record', async () => (await events()).includes('audit_head_missing'))
    expect((await fairlead.api.getDatabase({ params: { uid } })).status).toBe('active')
    expect((await verifyAuditOf(loadConfig(fairlead.environment), undefined)).fault).toBeUndefined()
    // At its end the server needs a PostgreSQL that answers.
    await world.postgres.start()
    relay.aim(world.postgres.folder)
    relay.repair()
  },
)

interface World extends AsyncDisposable {
  readonly postgres: TestPostgres
  /** Name of the store's database. */
  readonly database: string
  readonly relay: PostgresRelay
  readonly fairlead: Fairlead
  readonly load: Load
  readonly uid: number
  /** By name of a user or a database: whether an answer has confirmed it. */
  readonly told: Map<string, boolean | 'unknown'>
  ended(actionUid: string): Promise<Action>
}

async function startWorld(): Promise<World> {
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  await using opened = new AsyncDisposableStack()
  const { host, database, user } = await postgres.makeDatabase()
  const relay = opened.use(await startRelay(host))
  const FAIRLEAD_STORE = `postgres://${user}@localhost/${database}?host=${relay.folder}`
  const key = { FAIRLEAD_STORE_KEY: randomBytes(32).toString('base64') }
  const fairlead = opened.use(
    await startFairlead({ env: { FAIRLEAD_STORE, FAIRLEAD_LOG_LEVEL: 'info', ...key } }),
  )
  const { api } = fairlead
  const body = { name: 'loaded', memory_size: 0, replication: true, engine_version: from }
  const { uid, action_uid } = await api.createDatabase({ body })
  await fairlead.untilEnded(action_uid)
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  const load = opened.use(
    await startLoad({ kind: 'incr', connections: 4, perSecond: 1_000, password, lookup }),
  )
  const owned = opened.move()
  return {
    postgres,
    database,
    relay,
    fairlead,
    load,
    uid,
    told: new Map(),
    ended: (actionUid) => fairlead.untilEnded(actionUid, 120_000),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const userOf = (name: string) => ({ name, password: 'a-password-of-mine', role: 'db_viewer' as const })

async function restartOf({ fairlead, uid }: World): Promise<string> {
  const { action_uid: actionUid = '' } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { force_restart: true, keep_engine_version: true },
  })
  expect(actionUid).not.toBe('')
  return actionUid
}

const actionOf = (fairlead: Fairlead, uid: string) =>
  fairlead.api.getAction({ params: { uid } }).catch(() => undefined)

/** Creates users and databases, one after the other, until it is told to end. */
function makeChanges(fairlead: Fairlead, prefix: string, told: World['told']) {
  let goes = true
  const each = async (kind: string, make: (name: string) => Promise<unknown>) => {
    for (let n = 0; goes; n += 1) {
      const name = `${prefix}-${kind}-${n}`
      told.set(name, 'unknown') // until there is an answer
      await make(name).then(
        () => told.set(name, true),
        (cause: unknown) =>
          cause instanceof ApiError && cause.code !== 'outcome_unknown' && told.set(name, false),
      )
    }
  }
  const running = [
    each('user', (name) => fairlead.api.createUser({ body: userOf(name) })),
    // Only a few small databases exist at a time: the machine has no room for more.
    each('bdb', async (name) => {
      const { uid, action_uid } = await fairlead.api.createDatabase({ body: { name, memory_size: 0 } })
      told.set(name, true)
      await fairlead.untilEnded(action_uid)
      await until('it is gone', () =>
        fairlead.api.deleteDatabase({ params: { uid } }).then(
          (answer) => answer,
          (cause: unknown) => cause instanceof ApiError && cause.code === 'db_not_exist' && cause,
        ),
      )
    }),
  ]
  return {
    async end() {
      goes = false
      await Promise.all(running)
    },
  }
}

async function inject({ postgres, relay }: World, fault: Fault, n: number): Promise<void> {
  if (fault === 'killed' || fault === 'restarted') await postgres.stop(fault === 'killed' ? 'killed' : 'fast')
  if (fault === 'frozen') await postgres.stop('frozen')
  if (fault === 'sessions ended')
    await postgres.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fairlead'`,
    )
  if (fault === 'killed' || fault === 'restarted' || fault === 'frozen') {
    const began = performance.now()
    await until('it was away for a while', () => performance.now() - began >= ((seed + n) % 4) * 1_000)
    return await postgres.start()
  }
  if (fault === 'sessions ended') return
  let [left, next] = [20, 1 + ((seed + n) % 30)]
  relay.judge(() => {
    next -= 1
    if (next > 0 || left === 0) return 'pass'
    left -= 1
    next = 10 + ((seed + n * 7 + left * 13) % 50)
    return fault
  })
}

async function readBack(load: Load): Promise<void> {
  await load.untilAcked(load.acked() + 100)
  await load.stop()
  const { lost, duplicated } = await load.readBack()
  expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
}

/**
 * Every confirmed creation exists exactly once, and every refused one does not. For databases that were
 * deleted again, the log has the creation.
 */
async function checkTold({ fairlead, told }: World): Promise<void> {
  const users = (await fairlead.api.listUsers({ query: {} })).map(({ name }) => name)
  const logs = await fairlead.api.listLogs({ query: { limit: 10_000 } })
  const created = logs
    .filter(({ type }) => type === 'bdb_created')
    .map(({ details }) => String(details?.['name']))
  const there = [...users, ...created]
  for (const [name, isThere] of told) {
    const times = there.filter((one) => one === name).length
    if (isThere === 'unknown') expect([name, times <= 1]).toEqual([name, true])
    else expect([name, times]).toEqual([name, isThere ? 1 : 0])
  }
  expect([...told.values()].filter((isThere) => isThere === true).length).toBeGreaterThan(0)
}

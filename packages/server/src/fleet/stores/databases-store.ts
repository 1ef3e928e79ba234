import { isDeepStrictEqual } from 'node:util'
import { type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import type { Access, FormerAccess } from '../../core/access/former-access.ts'
import type { SignIn } from '../../core/access/sign-in.ts'
import {
  byUid,
  type DatabasesFilter,
  type DatabasesOrder,
  type Place,
} from '../../core/requests/list-order.ts'
import {
  type Database,
  type DatabaseStatus,
  type GroupRecord,
  type History,
  type Reserved,
  type SlotRange,
  splitSlots,
} from '../../core/state/database.ts'
import type { ChangeableSettings, Runs } from '../../core/state/goal.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import { choosePage, namedLike } from '../../store/choose-page.ts'
import { inTransaction } from '../../store/in-transaction.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { servedBy } from '../../store/served-column.ts'
import { jsonColumn, wordColumn } from '../../store/stored-column.ts'
import { StoredModules } from '../../store/stored-values.ts'
import type { Tables } from '../../store/tables.ts'
import { changesStore } from './changes-store.ts'
import { databaseUsersStore } from './database-users-store.ts'
import { formerAccessStore, formerPortsWithin } from './former-access-store.ts'
import { advanceHistory, historyToColumns, type SeenStream } from './histories-store.ts'

/** A new database. The store assigns its uid, and slots to its groups. */
export type NewDatabase = Omit<
  Database,
  'uid' | 'status' | 'obstacle' | 'former' | 'users' | 'groups' | 'changedAt' | keyof SignIn
> & {
  /** Absent: true. */
  readonly defaultUser?: boolean
  /** Absent: none. */
  readonly rolesPermissions?: SignIn['rolesPermissions']
  /** Number of groups. */
  readonly groups: number
}

export type DatabasesStore = ReturnType<typeof databasesStore>

/**
 * Databases and their groups. Resolved writes are durable. Rows of `databases` and `groups`; `db` may be a
 * transaction.
 */
export function databasesStore(db: Db) {
  const set = (
    uid: number,
    columns: Partial<Row>,
    { former, rolesPermissions }: Partial<Pick<Database, 'former' | 'rolesPermissions'>> = {},
  ) =>
    inTransaction(db, async (within) => {
      if (former !== undefined) await formerAccessStore(within).replace(uid, former)
      if (rolesPermissions !== undefined) await databaseUsersStore(within).replace(uid, rolesPermissions)
      await within.updateTable('databases').set(columns).where('uid', '=', uid).execute()
      await changesStore(within).note('databases', uid)
    })
  const updateGroup = (uid: number, group: number) =>
    db.updateTable('groups').where('database_uid', '=', uid).where('number', '=', group)
  return {
    /** Ordered by uid by default. */
    async page(page: DatabasesPage): Promise<readonly Database[]> {
      if (page.only?.length === 0) return []
      return withGroups(db, await chooseDatabases(db, page).execute())
    },
    /** Promised bytes of all databases with a limit, replicas included. */
    async promisedBytes(): Promise<number> {
      const { bytes } = await db
        .selectFrom('databases')
        .select(sql<number | null>`sum(memory_bytes * (1 + replicas))`.as('bytes'))
        .where('memory_bytes', '>', 0)
        .executeTakeFirstOrThrow()
      return Number(bytes ?? 0)
    },
    /** Recorded endpoint ports in `range`, former ones and bounds included; each once. */
    async portsWithin(range: PortRange): Promise<readonly number[]> {
      const rows = await endpointsWithin(db, range).execute()
      return rows.flatMap(({ endpoint_port }) => endpoint_port ?? [])
    },
    async countPortsWithin(range: PortRange): Promise<number> {
      const query = db
        .selectFrom(endpointsWithin(db, range).as('endpoints'))
        .select((eb) => eb.fn.countAll().as('ports'))
      return Number((await query.executeTakeFirstOrThrow()).ports)
    },
    /** All databases, including unreadable ones. */
    listReserved: () => listReserved(db),
    async get(uid: number): Promise<Database | undefined> {
      const rows = await db.selectFrom('databases').selectAll().where('uid', '=', uid).execute()
      return (await withGroups(db, rows))[0]
    },
    async getByName(name: string): Promise<Database | undefined> {
      const rows = await db.selectFrom('databases').selectAll().where('name', '=', name).execute()
      return (await withGroups(db, rows))[0]
    },
    insert: (database: NewDatabase) => insertDatabase(db, database),
    setStatus: (uid: number, status: DatabaseStatus, now: string) => set(uid, { status, changed_at: now }),
    setObstacle: (uid: number, obstacle: string | null) => set(uid, { obstacle: obstacle ?? '' }),
    /** Records the result of an upgrade. */
    setRuns: (uid: number, { build, restartNonce, modules }: Runs, now: string) =>
      set(uid, {
        flavour: build.flavour,
        version: build.version,
        restart_nonce: restartNonce,
        modules: JSON.stringify(modules),
        changed_at: now,
      }),
    /** Records the given settings; others stay. */
    setSettings: (uid: number, settings: ChangedSettings, now: string) =>
      set(uid, { ...settingsToColumns(settings), changed_at: now }, settings),
    /** Forgets these, and keeps what a change has added meanwhile. */
    forgetFormer: (uid: number, ended: readonly FormerAccess[]) =>
      inTransaction(db, async (within) => {
        const former = (await formerAccessStore(within).of([uid])).get(uid) ?? []
        const left = former.filter((one) => !ended.some((other) => isDeepStrictEqual(one, other)))
        await formerAccessStore(within).replace(uid, left)
        await changesStore(within).note('databases', uid)
      }),
    setEndpointPort: (uid: number, port: number) => set(uid, { endpoint_port: port }),
    /** Called during a hold: changed addresses are noted when the handover is closed. */
    async setPrimary(uid: number, group: number, shard: number): Promise<void> {
      await updateGroup(uid, group).set({ primary_shard: shard }).execute()
    },
    async setHistory(uid: number, group: number, history: History): Promise<void> {
      await updateGroup(uid, group).set(historyToColumns(history)).execute()
    },
    /** Advances the recorded history of a primary, unless its role moves or it was replaced. */
    advanceHistory: (seen: SeenStream) => advanceHistory(db, seen),
    remove: (uid: number) => removeDatabase(db, uid),
  }
}

type ChangedSettings = Partial<ChangeableSettings & Access & SignIn>

function settingsToColumns({
  memoryBytes,
  evictionPolicy,
  replicas,
  persistence,
  aofFsync,
  snapshots,
  name,
  endpointPort,
  tls,
  userPassword,
  defaultUser,
}: ChangedSettings): Partial<Tables['databases']> {
  return {
    ...(memoryBytes !== undefined && { memory_bytes: memoryBytes }),
    ...(evictionPolicy !== undefined && { eviction_policy: evictionPolicy }),
    ...(replicas !== undefined && { replicas }),
    ...(persistence !== undefined && { persistence }),
    ...(aofFsync !== undefined && { aof_fsync: aofFsync }),
    ...(snapshots !== undefined && { snapshots: JSON.stringify(snapshots) }),
    ...(name !== undefined && { name }),
    ...(endpointPort !== undefined && { endpoint_port: endpointPort }),
    ...(tls !== undefined && { tls: Number(tls) }),
    ...(userPassword !== undefined && { user_password: userPassword }),
    ...(defaultUser !== undefined && { default_user: Number(defaultUser) }),
  }
}

function endpointsWithin(db: Db, range: PortRange) {
  return db
    .selectFrom('databases')
    .select('endpoint_port')
    .where('endpoint_port', '>=', range.from)
    .where('endpoint_port', '<=', range.to)
    .union(formerPortsWithin(db, range))
}

async function listReserved(db: Db): Promise<readonly Reserved[]> {
  const columns = ['uid', 'endpoint_port', 'memory_bytes', 'replicas'] as const
  const rows = await db.selectFrom('databases').select(columns).orderBy('uid').execute()
  return rows.map(({ uid, endpoint_port, memory_bytes, replicas }) => {
    return { uid, endpointPort: endpoint_port, memoryBytes: Number(memory_bytes), replicas }
  })
}

type Row = Tables['databases']
type GroupRow = Tables['groups']

async function withGroups(db: Db, rows: readonly Row[]): Promise<readonly Database[]> {
  if (rows.length === 0) return []
  const uids = rows.map(({ uid }) => uid)
  const groups = await db
    .selectFrom('groups')
    .selectAll()
    .where('database_uid', 'in', uids)
    .orderBy('number')
    .execute()
  const byDatabase = Map.groupBy(groups, ({ database_uid }) => database_uid)
  const former = await formerAccessStore(db).of(uids)
  const permissions = await databaseUsersStore(db).permissionsOf(uids)
  const users = await databaseUsersStore(db).usersOf([...permissions.keys()])
  return rows.map((row) =>
    fromRow(row, byDatabase.get(row.uid) ?? [], {
      former: former.get(row.uid) ?? [],
      rolesPermissions: permissions.get(row.uid) ?? [],
      users: users.get(row.uid) ?? [],
    }),
  )
}

async function insertDatabase(db: Db, database: NewDatabase): Promise<Database> {
  const row = toRow(await nextId(db, 'database'), database)
  const groups = splitSlots(database.groups).map((slots, number) => newGroup(row.uid, number, slots))
  await db
    .insertInto('databases')
    .values({ ...row, seq: await nextId(db, 'database_change') })
    .execute()
  await db.insertInto('groups').values(groups).execute()
  await databaseUsersStore(db).replace(row.uid, database.rolesPermissions ?? [])
  await changesStore(db).note('databases', row.uid)
  const [created] = await withGroups(db, [row])
  if (created === undefined) throw new Error('a database was not stored')
  return created
}

/** Also removes its groups and the certificates of its shards. */
async function removeDatabase(db: Db, uid: number): Promise<void> {
  await db.deleteFrom('groups').where('database_uid', '=', uid).execute()
  await databaseUsersStore(db).replace(uid, [])
  await db.deleteFrom('databases').where('uid', '=', uid).execute()
  await changesStore(db).noteRemoved(uid)
  await db
    .deleteFrom('tls_certificates')
    .where('name', 'in', [`shards-ca:${uid}`, `shards:${uid}`])
    .execute()
}

function newGroup(database_uid: number, number: number, { first, last }: SlotRange): GroupRow {
  return {
    database_uid,
    number,
    first_slot: first,
    last_slot: last,
    primary_shard: null,
    history_replid: null,
    history_offset: null,
    history_run_id: null,
    history_before_replid: null,
    history_before_until: null,
  }
}

function toRow(uid: number, database: NewDatabase): Row {
  return {
    uid,
    name: database.name,
    status: 'pending',
    obstacle: '',
    flavour: database.build.flavour,
    version: database.build.version,
    restart_nonce: database.restartNonce,
    memory_bytes: database.memoryBytes,
    replicas: database.replicas,
    persistence: database.persistence,
    aof_fsync: database.aofFsync,
    snapshots: JSON.stringify(database.snapshots),
    eviction_policy: database.evictionPolicy,
    admin_password: database.adminPassword,
    user_password: database.userPassword,
    cluster: Number(database.cluster),
    oss_cluster: Number(database.clientsKnowShards),
    shard_tls: Number(database.shardTls),
    tls: Number(database.tls),
    endpoint_port: database.endpointPort,
    modules: JSON.stringify(database.modules),
    default_user: Number(database.defaultUser ?? true),
    created_at: database.createdAt,
    changed_at: database.createdAt,
    seq: 0,
  }
}

const statusOf = wordColumn('databases', 'status', [
  'pending',
  'active',
  'changing',
  'deleting',
  'creation-failed',
])
const modulesOf = jsonColumn('databases', 'modules', StoredModules)
const persistenceOf = wordColumn('databases', 'persistence', ['disabled', 'aof', 'snapshot'])
const aofFsyncOf = wordColumn('databases', 'aof_fsync', ['everysec', 'always'])
const snapshotsOf = jsonColumn(
  'databases',
  'snapshots',
  Type.Array(Type.Object({ secs: Type.Integer(), writes: Type.Integer() })),
)

function fromRow(
  row: Row,
  groups: readonly GroupRow[],
  access: Pick<Database, 'former' | 'rolesPermissions' | 'users'>,
): Database {
  return {
    uid: row.uid,
    name: row.name,
    status: statusOf(row.status, row.uid),
    obstacle: row.obstacle === '' ? null : row.obstacle,
    build: { flavour: row.flavour, version: row.version },
    restartNonce: row.restart_nonce,
    modules: modulesOf(row.modules, row.uid),
    memoryBytes: Number(row.memory_bytes),
    replicas: row.replicas,
    persistence: persistenceOf(row.persistence, row.uid),
    aofFsync: aofFsyncOf(row.aof_fsync, row.uid),
    snapshots: snapshotsOf(row.snapshots, row.uid),
    evictionPolicy: row.eviction_policy,
    adminPassword: row.admin_password,
    userPassword: row.user_password,
    cluster: row.cluster === 1,
    clientsKnowShards: row.oss_cluster === 1,
    shardTls: row.shard_tls === 1,
    tls: row.tls === 1,
    endpointPort: row.endpoint_port,
    ...access,
    defaultUser: row.default_user === 1,
    groups: groups.map(groupFromRow),
    createdAt: row.created_at,
    changedAt: row.changed_at,
  }
}

function groupFromRow(row: GroupRow): GroupRecord {
  return {
    number: row.number,
    slots: { first: row.first_slot, last: row.last_slot },
    primaryShard: row.primary_shard,
    history:
      row.history_replid === null
        ? null
        : {
            replid: row.history_replid,
            offset: Number(row.history_offset),
            runId: row.history_run_id,
            ...(row.history_before_replid !== null && {
              before: { replid: row.history_before_replid, until: Number(row.history_before_until) },
            }),
          },
  }
}

/** A page: at most `limit` entries after `offset` skipped ones and `after`; `only` these unless null. */
export interface DatabasesPage {
  readonly limit: number
  readonly offset: number
  readonly only: readonly number[] | null
  readonly after?: Place | undefined
  readonly filter?: DatabasesFilter
  readonly order?: DatabasesOrder
}

/** Indexed with the uid at the end (migration 0026): a page reads only its rows. */
const columns = {
  uid: 'uid',
  name: 'name',
  memory_size: 'memory_bytes',
  created_time: 'created_at',
  last_changed_time: 'changed_at',
} as const satisfies Record<DatabasesOrder['by'], string>

/** Rows of `databases` for one page, in order. */
export function chooseDatabases(
  db: Db,
  { limit, offset, only, after, filter = {}, order = byUid }: DatabasesPage,
) {
  let query = choosePage(db.selectFrom('databases').selectAll(), columns, { order, after, limit, offset })
  if (only !== null) query = query.where('uid', 'in', [...only])
  return conditionsOf(filter).reduce((chosen, condition) => chosen.where(condition), query)
}

function conditionsOf({ q, status, hasObstacle, flavour, version }: DatabasesFilter) {
  return [
    ...(q === undefined ? [] : [namedLike(q, ['name'])]),
    ...(status === undefined ? [] : [sql<SqlBool>`status = ${status}`]),
    ...(hasObstacle === undefined ? [] : [sql<SqlBool>`(obstacle <> '') = ${sql.raw(String(hasObstacle))}`]),
    ...(flavour === undefined && version === undefined ? [] : [servedBy({ flavour, version })]),
  ]
}

import { randomBytes } from 'node:crypto'
import { type NodeBackup, Refusal, type Seed } from '@fairlead/api'
import { obstacleToBusTls } from '../../core/carry-over/builds-with-bus-tls.ts'
import type { Actor } from '../../core/identity/access.ts'
import { crowdedCluster } from '../../core/requests/crowded-cluster.ts'
import { describeBusy } from '../../core/requests/describe-busy.ts'
import { lackOfPorts } from '../../core/requests/lack-of-ports.ts'
import { byUid, placeOf } from '../../core/requests/list-order.ts'
import { refuseLackOfMemory, refuseTinyMemory } from '../../core/requests/refused-memory.ts'
import type { OfferedBuild } from '../../core/requests/resolve-build.ts'
import { resolveDatabase } from '../../core/requests/resolve-database.ts'
import type { NewModuleEntry } from '../../core/requests/resolve-modules.ts'
import { resolveRestore } from '../../core/requests/resolve-restore.ts'
import type { Action } from '../../core/state/action.ts'
import { type Database, type ShardRecord, steadyGoal } from '../../core/state/database.ts'
import type { EndpointReach } from '../../core/state/endpoint-reach.ts'
import type { Runs } from '../../core/state/goal.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import { type Refused, refusedForAll } from '../../core/state/refused.ts'
import { agentAway } from '../../nodes/agent-away.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import { readInPieces } from '../../store/choose-page.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { Modules } from '../modules/modules-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'
import { type ActionsStore, ActiveActionExists, actionsStore } from '../stores/actions-store.ts'
import { databaseOrdersStore } from '../stores/database-orders-store.ts'
import {
  type DatabasesPage,
  type DatabasesStore,
  databasesStore,
  type NewDatabase,
} from '../stores/databases-store.ts'
import { type ShardsStore, shardsStore } from '../stores/shards-store.ts'
import { type ReadPlanInputs, readPlanInputs } from './read-plan-inputs.ts'
import { type Change, type Nothing, recordChange, recordDatabase, recordNothing } from './record-change.ts'
import { refuseTakenName, refuseTakenPort } from './taken-places.ts'
import { countTakenPorts } from './taken-ports.ts'

/** A database with its shards and its running action. */
export interface DatabaseView {
  readonly database: Database
  readonly shards: readonly ShardRecord[]
  readonly action: Action | undefined
  readonly reach: EndpointReach
}

/** Fields of a new database, sizes in bytes. Missing ones are chosen. */
export interface DatabaseRequest
  extends Pick<
    NewDatabase,
    | 'name'
    | 'memoryBytes'
    | 'groups'
    | 'cluster'
    | 'replicas'
    | 'persistence'
    | 'aofFsync'
    | 'snapshots'
    | 'evictionPolicy'
    | 'clientsKnowShards'
    | 'tls'
    | 'endpointPort'
    | 'defaultUser'
    | 'rolesPermissions'
  > {
  readonly engineVersion: string | undefined
  /** The flavour if the version names none and one of its builds fits. */
  readonly preferredFlavour?: string
  readonly modules: readonly NewModuleEntry[]
  /** The backup whose data it begins with. */
  readonly backup?: NodeBackup
  /** Generated when undefined. */
  readonly userPassword: string | undefined
}

/** Reads databases, and begins actions for the reconciler. */
export interface Databases {
  /** Ordered by uid. */
  list(query: ViewsQuery): Promise<readonly DatabaseView[]>
  /** Ids of the shards of these databases. */
  shardsOf(uids: readonly number[]): Promise<readonly number[]>
  /** Ids of all primaries. */
  primaries(): Promise<readonly number[]>
  countShards: ShardsStore['count']
  /** Databases of these shards, and whether they have an endpoint. */
  placesOf: ShardsStore['placesOf']
  /** Throws Refusal db_not_exist. */
  get(uid: number): Promise<DatabaseView>
  create(request: DatabaseRequest, by: Actor): Promise<DatabaseView>
  remove(uid: number, by: Actor): Promise<{ readonly actionUid: string }>
  /** Returns why a database cannot get this name or port; undefined: it can. Call it within `exclusively`. */
  takenPlace(place: {
    readonly name?: string | undefined
    readonly endpointPort?: number | undefined
  }): Promise<Refused | undefined>
  /** Serializes the allocation of names and ports. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** Returns why `needed` ports are not free on the node, or undefined. */
  lackOfPorts(needed: number): Promise<string | undefined>
  /** Reads a database and whether `portsNeeded` more ports are free. Throws Refusal db_not_exist. */
  standing(uid: number, portsNeeded: number): Promise<ReadPlanInputs>
  /**
   * Begins an action and wakes the reconciler. Throws Refusal db_busy while another runs, and plan_outdated
   * if the stored facts are not the expected ones.
   */
  begin(uid: number, change: Change, by: Actor): Promise<DatabaseView>
  /** Records a completed action with the reason why nothing had to change. Throws Refusal db_busy. */
  noteNothing(uid: number, nothing: Nothing, by: Actor): Promise<DatabaseView>
}

interface DatabasesDeps {
  readonly store: Store
  readonly nodes: Nodes
  readonly modules: Pick<Modules, 'list'>
  readonly nudge: (databaseUid: number) => void
  /** Bounds are inclusive. */
  readonly portRange: PortRange
  /** Additional ports that a request may name. */
  readonly askedPorts: PortRange
  readonly reach: () => EndpointReach
  /** For new databases in cluster mode. */
  readonly shardTls: boolean
  /** Serializes the allocation of ports. */
  readonly runExclusive: <T>(place: () => Promise<T>) => Promise<T>
  readonly now: () => number
}

/** `nudge` wakes the reconciler after a change is recorded; `now` is Unix milliseconds. */
export function createDatabases(deps: DatabasesDeps): Databases {
  const { store, nodes, modules, nudge, runExclusive } = deps
  const databases = databasesStore(store.db)
  const shards = shardsStore(store.db)
  const actions = actionsStore(store.db)
  const now = () => new Date(deps.now()).toISOString()
  const stores = { databases, shards, actions }
  const views = async (listed: readonly Database[]) => viewsOf(listed, stores, deps.reach())
  const view = async (database: Database) => viewOf(database, stores, deps.reach())

  const get = async (uid: number) => view(await find(databases, uid))
  return {
    list: (query) => listViews(query, databases, views),
    shardsOf: shards.idsOf,
    primaries: shards.primaries,
    countShards: shards.count,
    placesOf: shards.placesOf,
    get,

    async create(request, by) {
      refuse(refuseTinyMemory(request))
      const wish = restoreOf(request, await nodes.builds(), await modules.list())
      const resolved = resolveDatabase({ ...request, ...wish.choice }, wish.builds, await modules.list())
      if ('refused' in resolved) throw toRefusal(resolved)
      const noTls = request.cluster && deps.shardTls ? obstacleToBusTls(resolved.build) : undefined
      if (noTls !== undefined) throw new Refusal('field_not_available', noTls)
      const wanted = newDatabase(request, resolved, deps.shardTls, now())
      const database = await runExclusive(async () => {
        const last = await databaseOrdersStore(store.db).lastUid()
        refuse(await this.takenPlace({ name: request.name }))
        refuse(await this.takenPlace({ endpointPort: request.endpointPort ?? undefined }))
        const lacking = await this.lackOfPorts(portsFor(request, deps.shardTls))
        if (lacking !== undefined) throw new Refusal('insufficient_resources', lacking)
        refuse(await lackOfMemory(request, { databases, nodes }))
        return store.transaction((db) => recordNext(db, last, wanted, wish.seeds, by))
      })
      if (request.cluster) await warnOfCrowd(database.uid, request, { actions, nodes, now: now() })
      nudge(database.uid)
      return view(database)
    },

    async remove(uid, by) {
      const database = await find(databases, uid)
      const goal = { ...steadyGoal(database), kind: 'remove' } as const
      const { action } = await this.begin(uid, { kind: 'delete', goal }, by)
      return { actionUid: action?.uid ?? '' }
    },

    async takenPlace({ name, endpointPort }) {
      const places = { databases, shards, ...deps }
      const refusals = [
        name === undefined ? undefined : await refuseTakenName(name, places),
        endpointPort === undefined ? undefined : await refuseTakenPort(endpointPort, places),
      ]
      return refusedForAll(refusals.filter((one) => one !== undefined))
    },

    exclusively: runExclusive,

    lackOfPorts: async (needed) =>
      lackOfPorts(needed, deps.portRange, await countTakenPorts(deps.portRange, { databases, shards })),

    standing: (uid, portsNeeded) => readPlanInputs(store.db, uid, portsNeeded, deps.portRange),

    async begin(uid, change, by) {
      await unlessBusy(uid, store, (db) => recordChange(db, uid, change, by, now()))
      nudge(uid)
      return get(uid)
    },

    async noteNothing(uid, nothing, by) {
      const noted = await unlessBusy(uid, store, (db) => recordNothing(db, uid, nothing, by, now()))
      return { ...(await get(uid)), action: await actions.get(noted) }
    },
  }
}

/** The builds for a new database, and the data that it begins with. Throws Refusal. */
function restoreOf(
  request: DatabaseRequest,
  builds: readonly OfferedBuild[],
  catalogue: Awaited<ReturnType<Modules['list']>>,
) {
  if (request.backup === undefined) return { builds, choice: {}, seeds: [] }
  const names = request.modules.flatMap(
    ({ name, uid }) => name ?? catalogue.find((module) => module.uid === uid)?.name ?? [],
  )
  const restore = resolveRestore(request, request.backup, builds, names)
  if ('refused' in restore) throw toRefusal(restore)
  const { engineVersion, preferredFlavour, seeds } = restore
  return { builds: restore.builds, choice: { engineVersion, preferredFlavour }, seeds }
}

/** Refuses if another server created a database after `last`: it may have the name, ports or memory. */
async function recordNext(
  db: Db,
  last: number,
  wanted: NewDatabase,
  seeds: readonly Seed[],
  by: Actor,
): Promise<Database> {
  if ((await databaseOrdersStore(db).lastUid()) === last) return recordDatabase(db, wanted, seeds, by)
  throw new Refusal('unavailable', 'another database was created at the same moment; try again')
}

async function find(databases: DatabasesStore, uid: number): Promise<Database> {
  const database = await databases.get(uid)
  if (database === undefined) throw new Refusal('db_not_exist', `database ${uid} does not exist`)
  return database
}

/** Returns why the node lacks memory for it. Throws Refusal unavailable if no agent answers. */
async function lackOfMemory(
  request: Pick<DatabaseRequest, 'memoryBytes' | 'replicas'>,
  places: { readonly databases: DatabasesStore; readonly nodes: Pick<Nodes, 'describe'> },
): Promise<Refused | undefined> {
  if (request.memoryBytes === 0) return undefined
  const node = await places.nodes.describe()
  if (node === null) throw agentAway()
  const { memoryTotalBytes: totalBytes, memoryFreeBytes: freeBytes } = node
  return refuseLackOfMemory(request, await places.databases.promisedBytes(), { totalBytes, freeBytes })
}

/** Warns if a cluster is large for its node. */
async function warnOfCrowd(
  uid: number,
  { groups, replicas }: Pick<DatabaseRequest, 'groups' | 'replicas'>,
  { actions, nodes, now }: { readonly actions: ActionsStore; readonly nodes: Nodes; readonly now: string },
): Promise<void> {
  const node = await nodes.describe()
  const warning = crowdedCluster(groups * (1 + replicas), node?.cores)
  const action = warning === undefined ? undefined : await actions.active(uid)
  if (warning !== undefined && action !== undefined)
    await actions.update(action.uid, { warnings: [warning] }, now)
}

function refuse(refused: Refused | undefined): void {
  if (refused !== undefined) throw toRefusal(refused)
}

/** One port per shard, a second one with TLS between shards, and one for an endpoint unless requested. */
function portsFor(
  { groups, replicas, clientsKnowShards, endpointPort }: DatabaseRequest,
  shardTls: boolean,
): number {
  const each = shardTls ? 2 : 1
  return groups * (1 + replicas) * each + (clientsKnowShards || endpointPort !== null ? 0 : 1)
}

async function viewOf(
  database: Database,
  { shards, actions }: Stores,
  reach: EndpointReach,
): Promise<DatabaseView> {
  const [own, action] = [await shards.listOf(database.uid), await actions.active(database.uid)]
  return { database, shards: own, action, reach }
}

/** Removes the fields that have been resolved. */
function withoutWishes({
  engineVersion: _asked,
  preferredFlavour: _preferred,
  modules: _named,
  backup: _read,
  ...fields
}: DatabaseRequest) {
  return fields
}

function newDatabase(
  request: DatabaseRequest,
  { build, modules }: Pick<Runs, 'build' | 'modules'>,
  shardTls: boolean,
  createdAt: string,
): NewDatabase {
  const { userPassword, ...fields } = withoutWishes(request)
  return {
    ...fields,
    build,
    modules,
    restartNonce: 0,
    shardTls,
    adminPassword: randomBytes(32).toString('base64url'),
    userPassword: userPassword ?? randomBytes(24).toString('base64url'),
    createdAt,
  }
}

/** Runs `work` in a transaction. Throws Refusal db_busy with the running action if there is one. */
async function unlessBusy<T>(uid: number, store: Store, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    return await store.transaction(work)
  } catch (cause) {
    if (!(cause instanceof ActiveActionExists)) throw cause
    const { name } = await find(databasesStore(store.db), uid)
    throw new Refusal('db_busy', describeBusy(name, await actionsStore(store.db).active(uid)))
  }
}

/** Selects and orders databases; `only` these unless null. Default: no limit. */
export interface ViewsQuery extends Pick<DatabasesPage, 'only' | 'after' | 'filter' | 'order'> {
  readonly limit?: number
  readonly offset?: number
}

interface Stores {
  readonly databases: DatabasesStore
  readonly shards: ShardsStore
  readonly actions: ActionsStore
}

/** Makes three queries per page. Only databases that are deleted in between may be missing. */
async function listViews(
  { order = byUid, only, filter = {}, ...page }: ViewsQuery,
  databases: DatabasesStore,
  views: (listed: readonly Database[]) => Promise<readonly DatabaseView[]>,
): Promise<readonly DatabaseView[]> {
  const read = async (piece: Omit<DatabasesPage, 'only' | 'filter'>) =>
    views(await databases.page({ ...piece, only, filter }))
  return readInPieces({ ...page, order }, read, ({ database }, by) => placeOf(database, { by }))
}

async function viewsOf(
  databases: readonly Database[],
  stores: Stores,
  reach: EndpointReach,
): Promise<readonly DatabaseView[]> {
  const uids = databases.map(({ uid }) => uid)
  const shards = await stores.shards.listOfEach(uids)
  const actions = await stores.actions.activeOf(uids)
  return databases.map((database) => ({
    database,
    shards: shards.get(database.uid) ?? [],
    action: actions.get(database.uid),
    reach,
  }))
}

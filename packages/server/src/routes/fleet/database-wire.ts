import {
  type Body,
  type Build,
  type createDatabase,
  type Database as DatabaseAnswer,
  type ErrorCode,
  fixedDatabaseFields,
  Refusal,
  type Shard,
  type ShardReport,
  safeDefaults,
} from '@fairlead/api'
import { type Caller, may } from '../../core/identity/access.ts'
import { joinArgs, splitArgs } from '../../core/modules/module.ts'
import { hourly } from '../../core/requests/resolve-change.ts'
import { windowEndsOf } from '../../core/state/action-phase.ts'
import { type Database, type DatabaseStatus, hasEndpoint } from '../../core/state/database.ts'
import { placesOf } from '../../core/state/endpoint-reach.ts'
import type { UsedModule } from '../../core/state/goal.ts'
import { asServed, servingBuilds } from '../../core/state/serving.ts'
import type { DatabaseRequest, DatabaseView } from '../../fleet/databases/databases-service.ts'
import type { ShardView } from '../../fleet/databases/shards-service.ts'
import { actionNames } from './action-wire.ts'
import { passwordToWire, signInFromWire, signInToWire } from './sign-in-wire.ts'

type Endpoint = DatabaseAnswer['endpoints'][number]

/** A database as the API shows it, with its password if `showsPassword`. Wire words stop here. */
export function toWire(view: DatabaseView, showsPassword: boolean): DatabaseAnswer {
  const { database, shards, action } = view
  const endpoints = endpointsOf(view)
  const served = asServed(database, shards)
  return {
    ...fixedDatabaseFields,
    uid: database.uid,
    name: database.name,
    type: 'redis',
    status:
      database.status === 'active' && database.obstacle !== null ? 'recovery' : statusWords[database.status],
    status_reason: database.obstacle ?? '',
    ...buildToWire(served.build),
    serving: servingBuilds(database, shards).map(({ primaries, ...build }) => ({
      ...runsToWire(build),
      primaries,
    })),
    on_record: runsToWire(database.build),
    memory_size: database.memoryBytes,
    replication: database.replicas > 0,
    sharding: database.cluster,
    shards_count: database.groups.length,
    shard_list: shards.map(({ id }) => id),
    data_persistence: database.persistence,
    aof_policy: database.aofFsync === 'always' ? 'appendfsync-always' : 'appendfsync-every-sec',
    snapshot_policy: [...database.snapshots],
    eviction_policy: database.evictionPolicy as DatabaseAnswer['eviction_policy'], // same enumeration
    module_list: served.modules.map((module) => moduleToWire(module, showsPassword)),
    endpoints: [...endpoints],
    port: endpoints[0]?.port ?? 0,
    oss_cluster: database.clientsKnowShards,
    ...tlsToWire(database),
    ...formerToWire(database),
    crdt: false,
    crdt_guid: '',
    ...(showsPassword && passwordToWire(database.userPassword)),
    ...signInToWire(database),
    ...actionToWire(action),
    created_time: seconds(database.createdAt),
    last_changed_time: seconds(database.changedAt),
  }
}

function tlsToWire({ tls }: Pick<Database, 'tls'>) {
  return { tls_mode: tls ? 'enabled' : 'disabled', ssl: tls } as const
}

function formerToWire({ former }: Database): Pick<DatabaseAnswer, 'former_access'> {
  if (former.length === 0) return {}
  return {
    former_access: former.map((one) => ({
      ...(one.kind === 'place' && { port: one.port, ...tlsToWire(one) }),
      ...(one.kind === 'name' && { name: one.name }),
      ...(one.kind === 'password' && { password: true as const }),
      valid_until: one.until,
    })),
  }
}

/** `background_op` is the older word. */
function actionToWire(action: DatabaseView['action']) {
  if (action === undefined) return { background_op: [{ status: 'idle' as const }] }
  const { uid, kind, progress, phase } = action
  return {
    action_uid: uid,
    ...(phase === 'window' && { rollback_window: windowEndsOf(action) ?? 'until_finalized' }),
    background_op: [{ status: 'active' as const, name: actionNames[kind], progress }],
  }
}

/** Uses Fairlead's words and the older ones. */
function buildToWire({ flavour, version }: Database['build']) {
  return { ...runsToWire({ flavour, version }), version, redis_version: minorOf(version) }
}

function runsToWire({ flavour, version }: Build) {
  return { engine: flavour, engine_version: version }
}

function moduleToWire({ uid, name, semanticVersion, args }: UsedModule, showsArgs: boolean) {
  return {
    module_id: uid,
    module_name: name,
    semantic_version: semanticVersion,
    ...(showsArgs && { module_args: joinArgs(args) }),
  }
}

const statusWords: { readonly [Status in DatabaseStatus]: DatabaseAnswer['status'] } = {
  pending: 'pending',
  active: 'active',
  changing: 'active-change-pending',
  deleting: 'delete-pending',
  'creation-failed': 'creation-failed',
}

/** Translates a wire status: `recovery` is an active database with an obstacle. */
export function storedStatusOf(status: DatabaseAnswer['status']): {
  readonly status: DatabaseStatus
  readonly hasObstacle?: boolean
} {
  if (status === 'recovery') return { status: 'active', hasObstacle: true }
  if (status === 'active') return { status, hasObstacle: false }
  const stored = (Object.keys(statusWords) as DatabaseStatus[]).find((word) => statusWords[word] === status) // the keys of a table
  if (stored === undefined) throw new Error(`no database is ever ${status}`)
  return { status: stored }
}

/** The addresses of a database, once all groups have a primary: of its endpoint, or of its primaries. */
function endpointsOf({ database, shards, reach }: DatabaseView): readonly Endpoint[] {
  const primaries = database.groups.flatMap(
    ({ primaryShard }) => shards.find(({ id }) => id === primaryShard) ?? [],
  )
  const uid = (n: number) => `${database.uid}:${n + 1}`
  const { endpointPort: port } = database
  if (!hasEndpoint(database))
    return primaries.map(({ host, port }, n) => ({
      uid: uid(n),
      dns_name: host,
      port,
      addr: [host],
      addr_type: 'internal',
    }))
  const serves = database.groups.every(({ primaryShard }) => primaryShard !== null)
  if (port === null || !serves) return []
  return placesOf(reach, port).map(({ name, addresses, isExternal }, n) => ({
    uid: uid(n),
    dns_name: name,
    port,
    addr: [...addresses],
    addr_type: isExternal ? 'external' : 'internal',
  }))
}

/** "8.1" of "8.1.4". */
function minorOf(version: string): string {
  return version.split('.', 2).join('.')
}

/** The wider API has times without fractions. */
function seconds(iso: string): string {
  return iso.replace(/\.\d+Z$/, 'Z')
}

/** Translates the policy of the append-only file. */
export function fsyncOf(policy: DatabaseAnswer['aof_policy']): 'always' | 'everysec' {
  return policy === 'appendfsync-always' ? 'always' : 'everysec'
}

/** Translates the creation of a database. Refuses valid fields without support. */
export function fromWire(body: Body<typeof createDatabase>): DatabaseRequest {
  refuseUnavailable(body)
  return {
    name: body.name,
    memoryBytes: body.memory_size,
    groups: body.shards_count ?? 1,
    cluster: body.sharding === true || (body.shards_count ?? 1) > 1,
    replicas: (body.replication ?? safeDefaults.replication) ? 1 : 0,
    persistence: persistenceIn(body),
    aofFsync: fsyncOf(body.aof_policy ?? safeDefaults.aof_policy),
    snapshots: body.snapshot_policy ?? (body.data_persistence === 'snapshot' ? hourly : []),
    evictionPolicy: body.eviction_policy ?? 'volatile-lru',
    engineVersion: versionIn(body),
    // The older words mean that engine.
    ...((body.redis_version !== undefined || body.type === 'redis') && { preferredFlavour: 'redis' }),
    clientsKnowShards: body.oss_cluster ?? false,
    tls: body.tls_mode === 'enabled' || body.ssl === true,
    endpointPort: body.port === undefined || body.port === 0 ? null : body.port,
    modules: (body.module_list ?? []).map((entry, n) => ({
      place: `module_list[${n}]`,
      uid: entry.module_id,
      name: entry.module_name,
      semanticVersion: entry.semantic_version,
      args:
        entry.module_args === undefined
          ? undefined
          : argsFromWire(entry.module_args, `module_list[${n}].module_args`),
    })),
    ...signInFromWire(body).request,
    userPassword: oneOf(
      'authentication_engine_pass',
      body.authentication_engine_pass,
      'authentication_redis_pass',
      body.authentication_redis_pass,
    ),
  }
}

function persistenceIn(body: Body<typeof createDatabase>): Database['persistence'] {
  const implied = body.snapshot_policy === undefined ? safeDefaults.data_persistence : 'snapshot'
  return body.data_persistence ?? implied
}

/**
 * Three names of one field, all in answers (`redis_version` with two numbers only): a program may send them
 * back for a similar database.
 */
function versionIn({
  engine_version,
  version,
  redis_version,
}: Body<typeof createDatabase>): string | undefined {
  const full = oneOf('engine_version', engine_version, 'version', version)
  if (full !== undefined && redis_version === minorOf(full)) return full
  return oneOf(
    engine_version === undefined ? 'version' : 'engine_version',
    full,
    'redis_version',
    redis_version,
  )
}

function refuseUnavailable(body: Body<typeof createDatabase>): void {
  const notYet = [
    ...(body.type === 'memcached' ? ([['type', 'type memcached']] as const) : []),
    ...(body.tls_mode === 'replica_ssl' ? ([['tls_mode', 'tls_mode replica_ssl']] as const) : []),
  ].map(([field, what]) => [field, `${what} is not available yet; leave it out`] as const)
  if (notYet.length > 0) throw refusalOf('field_not_available', notYet)
  const unused = unusedIn(body)
  if (unused.length > 0) throw refusalOf('conflicting_fields', unused)
}

/** Fields without effect, each with the reason. */
function unusedIn(body: Body<typeof createDatabase>): readonly (readonly [field: string, why: string])[] {
  const sharded = body.sharding ?? (body.shards_count ?? 1) > 1
  const rules: readonly (readonly [isUnused: boolean, field: string, why: string])[] = [
    [
      body.oss_cluster === true && (body.port ?? 0) !== 0,
      'port',
      'port is that of an endpoint, and with oss_cluster clients connect to the shards',
    ],
    [
      body.oss_cluster === true && (body.tls_mode === 'enabled' || body.ssl === true),
      'tls_mode',
      'tls_mode enabled is for an endpoint; with oss_cluster clients connect to the shards, which do not speak TLS',
    ],
    [
      body.ssl === true && body.tls_mode === 'disabled',
      'ssl',
      'ssl true is tls_mode enabled: send one of them',
    ],
    [
      body.sharding === false && (body.shards_count ?? 1) > 1,
      'shards_count',
      'shards_count above 1 needs sharding',
    ],
    [body.oss_cluster === true && !sharded, 'oss_cluster', 'oss_cluster needs sharding'],
    [
      body.aof_policy === 'appendfsync-always' && persistenceIn(body) !== 'aof',
      'aof_policy',
      'aof_policy needs data_persistence aof',
    ],
    [
      body.snapshot_policy !== undefined && persistenceIn(body) !== 'snapshot',
      'snapshot_policy',
      'snapshot_policy needs data_persistence snapshot',
    ],
  ]
  return rules.filter(([isUnused]) => isUnused).map(([, field, why]) => [field, why])
}

function refusalOf(code: ErrorCode, faults: readonly (readonly [field: string, message: string])[]): Refusal {
  const obstacles = faults.map(([field, message]) => ({ code, message, field }))
  return new Refusal(code, obstacles.map(({ message }) => message).join('; '), { obstacles })
}

/** Two names of one field, which must agree. */
export function oneOf<T>(
  name: string,
  value: T | undefined,
  alias: string,
  aliased: T | undefined,
): T | undefined {
  if (value !== undefined && aliased !== undefined && value !== aliased) {
    const message = `${name} and ${alias} are the same field with different values: send one of them`
    throw refusalOf('conflicting_fields', [[name, message]])
  }
  return value ?? aliased
}

/** A shard as the API shows it; without an agent's report, `detailed_status` is `unknown`. */
export function shardToWire({ shard, slots, isPrimary, report, isAgentAway, seen }: ShardView): Shard {
  const startedAt = report?.startedAt ?? null
  return {
    uid: String(shard.id),
    bdb_uid: shard.databaseUid,
    node_uid: String(shard.nodeUid),
    role: isPrimary ? 'master' : 'slave',
    assigned_slots: `${slots.first}-${slots.last}`,
    status: report?.state === 'running' ? 'active' : 'inactive',
    detailed_status: report === undefined ? 'unknown' : detailOf(report),
    status_reason: isAgentAway ? 'the agent of its node does not answer' : reasonOf(report),
    engine: report?.build.flavour ?? shard.runs.build.flavour,
    engine_version: report?.build.version ?? shard.runs.build.version,
    port: shard.port,
    group: shard.group,
    started: startedAt === null ? null : new Date(startedAt).toISOString(),
    duty: seen?.duty ?? null,
    link: seen?.link ?? null,
    offset: seen?.offset ?? null,
    lag_bytes: seen?.lagBytes ?? null,
    used_memory: seen?.usedMemoryBytes ?? null,
  }
}

function reasonOf(report: ShardReport | undefined): string {
  return report?.silence?.isLong ? report.silence.why : (report?.why ?? '')
}

/** Short silences are normal, and not reported. */
function detailOf({ state, silence }: ShardReport): Shard['detailed_status'] {
  if (state !== 'running' || silence === null || !silence.isLong) return detailWords[state]
  return silence.doing === 'works' || silence.doing === 'disk' ? 'busy' : 'timeout'
}

const detailWords: { readonly [State in ShardReport['state']]: Shard['detailed_status'] } = {
  starting: 'loading',
  running: 'ok',
  stopping: 'busy',
  exited: 'down',
  failed: 'down',
}

/**
 * A database with its secrets, if the caller may see them, for programs of the wider API. Browser sessions
 * must request secrets separately.
 */
export function show(view: DatabaseView, { user, token }: Caller): DatabaseAnswer {
  return toWire(view, token?.isSession !== true && may(user, 'view_redis_pass', view.database.uid))
}

/** A database without password and module arguments. */
export function showWithoutSecrets(view: DatabaseView): DatabaseAnswer {
  return toWire(view, false)
}

/** Splits a string like the engines do; keeps a list. Throws Refusal invalid_request. */
export function argsFromWire(args: string | readonly string[], field: string): readonly string[] {
  if (typeof args !== 'string') return args
  const words = splitArgs(args)
  if (words === null) throw new Refusal('invalid_request', `${field}: a quote is not closed`)
  return words
}

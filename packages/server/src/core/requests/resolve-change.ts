import { type Access, formerAfter, MOST_FORMER } from '../access/former-access.ts'
import type { SignIn } from '../access/sign-in.ts'
import type { Module } from '../modules/module.ts'
import { isAtLeast, mayEvictAnything } from '../plan/limit-orders.ts'
import { diskForFiles } from '../plan/node-room.ts'
import type { Action } from '../state/action.ts'
import { type Database, hasEndpoint, steadyGoal } from '../state/database.ts'
import { limitsOf } from '../state/engine-memory.ts'
import type { ChangeableSettings, Goal } from '../state/goal.ts'
import { type Refused, refusedForAll } from '../state/refused.ts'
import { dataBytes } from '../state/surge-bytes.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'
import { describeBusy } from './describe-busy.ts'
import { obstacleOfCapabilities } from './module-rules.ts'
import { refuseTinyMemory } from './refused-memory.ts'

/**
 * Changed settings of a database. Memory: bytes of all groups together; 0 is unlimited. `formerSeconds`: for
 * how long what it replaces, or what was replaced before, stays valid.
 */
export type ChangeRequest = {
  readonly [Name in Exclude<Changeable, 'former'>]?: Database[Name] | undefined
} & {
  readonly formerSeconds?: number | undefined
}

/** Name of a setting that can be changed. */
export type Changeable = keyof ChangeableSettings | keyof Access | keyof SignIn

export interface ChangeSubject {
  readonly database: Database
  /** The running action of the database. */
  readonly action: Pick<Action, 'uid' | 'kind'> | undefined
  readonly seen: ObservedDatabase
  readonly catalogue: readonly Module[]
  /** Why the node lacks ports for the added replicas; undefined: it has them. */
  readonly lackOfPorts: string | undefined
  /** Why the wanted name or port cannot be had; undefined: it can. */
  readonly takenPlace: Refused | undefined
  /** Unix milliseconds. */
  readonly now: number
}

/** The settings of a database after a change. */
export interface Resolved {
  readonly database: Database
  /** The changed settings. */
  readonly changed: readonly Changeable[]
  /** The goal of the action that the change needs; null: it is in force at once. */
  readonly goal: Goal | null
}

/**
 * Returns the settings of a database after a change, or a refusal. During an upgrade the memory may be
 * raised: the way out for a database that needs more on the other build. Any other change is refused until
 * its end, without other obstacles.
 */
export function resolveChange(request: ChangeRequest, subject: ChangeSubject): Resolved | Refused {
  const before = subject.database
  const { formerSeconds: seconds, ...settings } = request
  const asked = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  const merged: Database = withSavePoints({ ...before, ...asked })
  const database = { ...merged, former: formerAfter(before, merged, { seconds, now: subject.now }) }
  const changed = changeable.filter((name) => !isSame(database[name], before[name]))
  const goal = goalOf(database, before)
  const resolved = { database, changed, goal }
  if (changed.length === 0) return resolved
  const raises = isAtLeast(database.memoryBytes, before.memoryBytes)
  // Other obstacles depend on that change, and may end with it.
  const running = busy(
    subject,
    raises && changed.every((name) => name === 'memoryBytes' || always.includes(name)),
  )
  if (running !== undefined) return running
  const obstacles = [
    ...(subject.takenPlace === undefined ? [] : [subject.takenPlace]),
    ...withoutEndpoint(subject, changed),
    ...tooManyFormer(database),
    ...strangeToModules(subject, resolved),
    ...lackOfMemory(subject, database),
    ...(raises ? [] : lackOfRoom(subject, database)),
    ...portsLacking(subject, database),
    ...lackOfDiskFor(subject, database),
  ]
  return refusedForAll(obstacles) ?? resolved
}

const changeable: readonly Changeable[] = [
  'memoryBytes',
  'evictionPolicy',
  'replicas',
  'persistence',
  'aofFsync',
  'snapshots',
  'name',
  'endpointPort',
  'tls',
  'userPassword',
  'former',
  'defaultUser',
  'rolesPermissions',
]

/** Possible during an upgrade, too: nothing of it depends on them. */
const always: readonly Changeable[] = ['former', 'defaultUser', 'rolesPermissions']

/** Settings are values or lists of them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Snapshots without a rule would never be written. */
function withSavePoints(database: Database): Database {
  if (database.persistence !== 'snapshot' || database.snapshots.length > 0) return database
  return { ...database, snapshots: hourly }
}

/** A snapshot each hour in which something was written. */
export const hourly: Database['snapshots'] = [{ secs: 3_600, writes: 1 }]

/** Live settings need no action, and are part of one that is needed: its undo restores them, too. */
function goalOf(database: Database, before: Database): Goal | null {
  if (database.replicas === before.replicas && database.persistence === before.persistence) return null
  return { ...steadyGoal(database), change: { to: settingsOf(database), from: settingsOf(before) } }
}

function settingsOf(database: Database): ChangeableSettings {
  const { memoryBytes, evictionPolicy, replicas, persistence, aofFsync, snapshots } = database
  return { memoryBytes, evictionPolicy, replicas, persistence, aofFsync, snapshots }
}

function tooManyFormer({ former }: Database): readonly Refused[] {
  if (former.length <= MOST_FORMER) return []
  const message = `former_valid_seconds: ${MOST_FORMER} former names, ports and passwords are still valid; send {"former_valid_seconds": 0} alone to end them, or wait until the first of them ends`
  return [{ refused: 'db_busy', field: 'former_valid_seconds', message }]
}

function withoutEndpoint({ database }: ChangeSubject, changed: readonly Changeable[]): readonly Refused[] {
  if (hasEndpoint(database)) return []
  const fields = changed.flatMap((name) =>
    name === 'endpointPort' ? 'port' : name === 'tls' ? 'tls_mode' : [],
  )
  return fields.map((field) => {
    const message = `${field}: clients of ${database.name} connect to its shards (oss_cluster), so it has no endpoint`
    return { refused: 'field_not_available', field, message }
  })
}

function busy({ database, action }: ChangeSubject, onlyRaises: boolean): Refused | undefined {
  if (action === undefined || (action.kind === 'upgrade' && onlyRaises)) return undefined
  const besides = action.kind === 'upgrade' ? '; meanwhile memory_size can be raised, and nothing else' : ''
  return { refused: 'db_busy', message: `${describeBusy(database.name, action)}${besides}` }
}

function strangeToModules(
  { database, catalogue }: ChangeSubject,
  { database: wanted, changed }: Resolved,
): readonly Refused[] {
  const field = changed.flatMap((name) => fields[name] ?? [])[0]
  if (field === undefined) return []
  const used = catalogue.filter(({ uid }) => database.modules.some((module) => module.uid === uid))
  return used.flatMap((module) => {
    const lacking = obstacleOfCapabilities(module, wanted)
    return lacking === undefined ? [] : [{ ...lacking, field }]
  })
}

/** Fields of a request that need a capability of modules. */
const fields: { readonly [Name in Changeable]?: string } = {
  evictionPolicy: 'eviction_policy',
  replicas: 'replication',
  persistence: 'data_persistence',
}

/** Checks that the node has the additional memory: each shard may fill it. */
function lackOfMemory({ database, seen }: ChangeSubject, wanted: Database): readonly Refused[] {
  const [before, after] = [limitsOf(database), limitsOf(wanted)]
  const added = addedShards(database, wanted)
  const shards = seen.groups.reduce((sum, group) => sum + group.shards.length, 0)
  const needed =
    after.shareBytes === 0
      ? 0
      : Math.max(0, after.shareBytes - before.shareBytes) * shards + after.shareBytes * added
  const free = Math.min(...seen.groups.map(({ node }) => node.memoryFreeBytes))
  if (needed <= free) return []
  const field = added > 0 ? 'replication' : 'memory_size'
  const message = `${field}: ${shards + added} shard(s) would need ${mb(needed)} MB more, and the node has ${mb(free)} MB free`
  return [{ refused: 'insufficient_resources', field, message }]
}

function addedShards(before: Database, wanted: Database): number {
  return Math.max(0, wanted.replicas - before.replicas) * before.groups.length
}

/** A file that an engine cannot write may end its process, with all that is only in memory. */
function lackOfDiskFor({ database, seen }: ChangeSubject, wanted: Database): readonly Refused[] {
  if (wanted.persistence === database.persistence || wanted.persistence === 'disabled') return []
  const shards = seen.groups.flatMap((group) => group.shards)
  const needed = diskForFiles(shards.filter(isLive))
  const free = Math.min(...seen.groups.map(({ node }) => node.diskFreeBytes))
  if (needed <= free) return []
  const message = `data_persistence: the files of ${shards.length} shard(s) may need ${mb(needed)} MB of disk, and the node has ${mb(free)} MB free`
  return [{ refused: 'insufficient_resources', field: 'data_persistence', message }]
}

function portsLacking({ database, lackOfPorts }: ChangeSubject, wanted: Database): readonly Refused[] {
  if (lackOfPorts === undefined || addedShards(database, wanted) === 0) return []
  const message = `replication: ${lackOfPorts}`
  return [{ refused: 'insufficient_resources', field: 'replication', message }]
}

function tooTiny({ groups, cluster, memoryBytes }: Database): readonly Refused[] {
  const refused = refuseTinyMemory({ memoryBytes, groups: groups.length, cluster })
  return refused === undefined ? [] : [refused]
}

/**
 * Refuses a limit below the data's size, which would refuse writes or evict keys immediately, unless the
 * policy may evict any key.
 */
function lackOfRoom({ database, seen }: ChangeSubject, wanted: Database): readonly Refused[] {
  // Without room for the engines themselves, every key would be evicted.
  if (mayEvictAnything(wanted.evictionPolicy)) return tooTiny(wanted)
  const silent = seen.groups.find(({ shards }) => !shards.some(isLive))
  if (silent !== undefined)
    return [
      {
        refused: 'unavailable',
        message: `no shard of group ${silent.group} reports how much it holds; try again`,
      },
    ]
  const { shareBytes } = limitsOf(wanted)
  const largest = Math.max(...seen.groups.map(dataBytes))
  if (largest <= shareBytes) return []
  const enough = Math.ceil((largest * database.groups.length) / MB) * MB
  const where = database.groups.length === 1 ? '' : ' in its fullest group'
  const message = `memory_size: the database uses ${mb(largest)} MB${where}, and would have ${mb(shareBytes)} MB there; send ${enough} or more, or delete keys first (only under a policy allkeys-… would they be evicted)`
  return [{ refused: 'memory_size_too_small', field: 'memory_size', message }]
}

const MB = 1_000_000
const mb = (bytes: number) => (bytes < 100 * MB ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / MB))

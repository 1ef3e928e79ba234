import { Refusal } from '@fairlead/api'
import { describeFormer, takeExactly, validPasswords } from '../../core/access/former-access.ts'
import type { Actor } from '../../core/identity/access.ts'
import {
  type Changeable,
  type ChangeRequest,
  type Resolved,
  resolveChange,
} from '../../core/requests/resolve-change.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase, ObservedShard } from '../../core/state/topology.ts'
import { hasUsers } from '../../core/users/database-users.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { Modules } from '../modules/modules-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databaseOrdersStore } from '../stores/database-orders-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import type { Databases, DatabaseView } from './databases-service.ts'
import { recordAction } from './record-change.ts'
import type { RuleJudge } from './rule-judge.ts'

export type DatabaseChanges = ReturnType<typeof createDatabaseChanges>

/**
 * Changes settings of running databases. `nudge` wakes the reconciler after a change is recorded; `now` is
 * Unix milliseconds.
 */
export function createDatabaseChanges(deps: {
  readonly store: Store
  readonly databases: Pick<Databases, 'get' | 'lackOfPorts' | 'takenPlace' | 'exclusively'>
  readonly modules: Pick<Modules, 'list'>
  readonly judge: Pick<RuleJudge, 'judgeBindings'>
  /** Observes a database. Throws AgentUnreachable. */
  readonly look: (database: Database) => Promise<ObservedDatabase>
  readonly nudge: (databaseUid: number) => void
  readonly now: () => number
  readonly time: Pausing
}) {
  const { store, databases, modules, judge, look, nudge } = deps
  const resolve = async (view: DatabaseView, request: ChangeRequest) => {
    const { database, action } = view
    await judge.judgeBindings(request.rolesPermissions ?? [], view)
    const added = Math.max(0, (request.replicas ?? 0) - database.replicas) * database.groups.length
    const lacking = added === 0 ? undefined : await databases.lackOfPorts(added * portsOfShard(database))
    const resolved = resolveChange(request, {
      database,
      action,
      seen: await look(database),
      catalogue: await modules.list(),
      lackOfPorts: lacking,
      takenPlace: await databases.takenPlace(otherPlace(request, database)),
      now: deps.now(),
    })
    if ('refused' in resolved) throw toRefusal(resolved)
    return resolved
  }
  return {
    /**
     * Records new settings for the engines' next turn and for new processes, and an action if one is needed.
     * Throws Refusal with every obstacle, and AgentUnreachable.
     */
    async change(
      uid: number,
      request: ChangeRequest,
      by: Actor,
      body: Readonly<Record<string, unknown>>,
    ): Promise<DatabaseView> {
      const view = await databases.get(uid)
      const change = async () => {
        const resolved = await resolve(view, request)
        if (resolved.changed.length === 0) return false
        const at = new Date(deps.now()).toISOString()
        await store.transaction((db) => record(db, { view, resolved, body, by, at }))
        return true
      }
      const takesPlace = Object.values(otherPlace(request, view.database)).some((one) => one !== undefined)
      if (!(await (takesPlace ? databases.exclusively(change) : change()))) return view
      nudge(uid)
      const changed = await databases.get(uid)
      const differing = describe(view.database, changed.database, ofSignIn)
      if (differing.length > 0) await untilTaken(changed.database, deps)
      return changed
    },

    /** Returns the result of `change` without a change, and refuses equally. */
    async foresee(uid: number, request: ChangeRequest): Promise<DatabaseView> {
      const view = await databases.get(uid)
      return { ...view, database: (await resolve(view, request)).database }
    },
  }
}

function portsOfShard({ shardTls }: Database): number {
  return shardTls ? 2 : 1
}

interface Pausing {
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
}

/** Programs give up a request later. */
const TAKEN_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 50

/** Waits, but not longer than TAKEN_WITHIN_MS, until each process has the recorded passwords and users. */
async function untilTaken(
  database: Database,
  { look, now, time }: Pick<Parameters<typeof createDatabaseChanges>[0], 'look' | 'now' | 'time'>,
): Promise<void> {
  const began = time.elapsed()
  while (time.elapsed() - began < TAKEN_WITHIN_MS) {
    // The change is on record: an absent agent learns of it later.
    const seen = await look(database).catch(() => null)
    const shards = seen?.groups.flatMap((group) => group.shards)
    const passwords = validPasswords(database, now())
    if (shards !== undefined && takeExactly(passwords, shards) && shards.every(hasItsUsers(database))) return
    await time.pause(LOOK_AGAIN_MS)
  }
}

/** True for a process with the users of the database, and without a process. */
function hasItsUsers(database: Database) {
  return ({ process, wanted: { build }, users = null }: ObservedShard) =>
    process !== 'running' || hasUsers(database, { build, users })
}

/** Settings that decide which clients can sign in. */
const ofSignIn: readonly Changeable[] = ['userPassword', 'defaultUser', 'rolesPermissions']

/** Returns the name and port that the database does not have yet. */
function otherPlace({ name, endpointPort }: ChangeRequest, { former, ...database }: Database) {
  const ports = [database.endpointPort, ...former.map((one) => (one.kind === 'place' ? one.port : null))]
  return {
    name: name === database.name ? undefined : name,
    endpointPort: endpointPort == null || ports.includes(endpointPort) ? undefined : endpointPort,
  }
}

interface ToRecord {
  readonly view: DatabaseView
  readonly resolved: Resolved
  readonly body: Readonly<Record<string, unknown>>
  readonly by: Actor
  readonly at: string
}

/** Checks that the view still holds: another change may have come first. */
async function record(db: Db, { view, resolved, body, by, at }: ToRecord): Promise<void> {
  const { uid } = view.database
  const [before, action] = [await databasesStore(db).get(uid), await actionsStore(db).active(uid)]
  if (before === undefined) throw new Refusal('db_not_exist', `database ${uid} does not exist`)
  const { database, changed, goal } = resolved
  const isSame = describe(before, view.database, allSettings).length === 0
  if (!isSame || action?.uid !== view.action?.uid)
    throw new Refusal(
      'db_busy',
      `database ${uid} was changed at the same moment; look at it, and send this again`,
    )
  await databasesStore(db).setSettings(uid, database, at)
  if (goal !== null) await recordAction(db, uid, { kind: 'change', goal, request: body }, by, at)
  else await databaseOrdersStore(db).note(uid)
  const details = Object.fromEntries(describe(before, database, changed))
  await auditStore(db).append({ type: 'bdb_updated', by, databaseUid: uid, details }, at)
}

const words: Readonly<Record<Changeable, string>> = {
  memoryBytes: 'memory_size',
  evictionPolicy: 'eviction_policy',
  replicas: 'replicas',
  persistence: 'data_persistence',
  aofFsync: 'aof_policy',
  snapshots: 'snapshot_policy',
  name: 'name',
  endpointPort: 'port',
  tls: 'tls',
  userPassword: 'password',
  former: 'former_access',
  defaultUser: 'default_user',
  rolesPermissions: 'roles_permissions',
}
const allSettings = Object.keys(words) as Changeable[] // the keys of a table

/** Returns the settings that differ, with both values, for the audit. */
function describe(before: Database, after: Database, names: readonly Changeable[]) {
  return names.flatMap((name) => {
    if (name === 'userPassword')
      return before[name] === after[name] ? [] : ([[words[name], 'changed']] as const)
    const [old, wanted] = [plainOf(name, before), plainOf(name, after)]
    return old === wanted
      ? []
      : ([
          [words[name], wanted],
          [`${words[name]}_before`, old],
        ] as const)
  })
}

/** Returns a setting as a word without secrets. */
function plainOf(name: Exclude<Changeable, 'userPassword'>, database: Database): string | number {
  if (name === 'former') return describeFormer(database.former)
  const value = database[name]
  return typeof value === 'number' ? value : typeof value === 'string' ? value : JSON.stringify(value)
}

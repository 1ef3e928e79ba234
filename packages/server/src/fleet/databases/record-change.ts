import { randomUUID } from 'node:crypto'
import { Refusal, type Seed } from '@fairlead/api'
import type { Actor } from '../../core/identity/access.ts'
import type { Action } from '../../core/state/action.ts'
import { type Database, steadyGoal } from '../../core/state/database.ts'
import { describeRuns, type Goal } from '../../core/state/goal.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import type { Db } from '../../store/open-store.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databaseOrdersStore } from '../stores/database-orders-store.ts'
import { databasesStore, type NewDatabase } from '../stores/databases-store.ts'
import { modulesStore } from '../stores/modules-store.ts'
import { type Expected, refuseOutdated } from './read-plan-inputs.ts'

interface ActionToBegin {
  readonly kind: Exclude<Action['kind'], 'create'>
  readonly goal: Goal
  /** Warnings for people. */
  readonly warnings?: readonly string[]
  /** The user's request without secrets. */
  readonly request?: Action['request']
}

/** An upgrade or a deletion to begin. */
export interface Change extends ActionToBegin {
  readonly kind: 'upgrade' | 'delete'
  /** The facts that must hold on acceptance; undefined: any. */
  readonly expected?: Expected | undefined
}

/** An upgrade without a change, and the reason. */
export interface Nothing {
  readonly goal: Goal
  readonly reason: string
  readonly request: Action['request']
  /** See Change. */
  readonly expected?: Expected | undefined
}

/** Records a new database, its action and its audit record. `db` is a transaction. */
export async function recordDatabase(
  db: Db,
  wanted: NewDatabase,
  seeds: readonly Seed[],
  by: Actor,
): Promise<Database> {
  const at = wanted.createdAt
  await refuseGone(db, wanted.modules)
  const created = await databasesStore(db).insert(wanted)
  const goal = { ...steadyGoal(created), ...(seeds.length > 0 && { seeds }) }
  const action = { uid: randomUUID(), databaseUid: created.uid, kind: 'create', goal } as const
  await actionsStore(db).insert({ ...action, requestedBy: by.name }, at)
  const [seed] = seeds
  const details = {
    name: created.name,
    build: describeRuns(created),
    ...(seed && { from_backup: seed.backup }),
  }
  await auditStore(db).append({ type: 'bdb_created', by, databaseUid: created.uid, details }, at)
  return created
}

/** Records an action and the database's new status. `db` is a transaction. Throws ActiveActionExists. */
export async function recordAction(
  db: Db,
  uid: number,
  { kind, goal, warnings = [], request = null }: ActionToBegin,
  by: Actor,
  at: string,
): Promise<void> {
  const action = randomUUID()
  await actionsStore(db).insert(
    { uid: action, databaseUid: uid, kind, goal, request, requestedBy: by.name },
    at,
  )
  if (warnings.length > 0) await actionsStore(db).update(action, { warnings }, at)
  await databasesStore(db).setStatus(uid, kind === 'delete' ? 'deleting' : 'changing', at)
  await databaseOrdersStore(db).note(uid)
}

/**
 * Records an upgrade or a deletion, the database's new status and an audit record. `db` is a transaction;
 * `at` is ISO 8601. Throws ActiveActionExists, and Refusal module_not_exist.
 */
export async function recordChange(
  db: Db,
  uid: number,
  { expected, ...change }: Change,
  by: Actor,
  at: string,
): Promise<void> {
  const { kind, goal } = change
  await refuseOutdated(db, expected)
  if (kind === 'upgrade') await refuseGone(db, goal.modules)
  await recordAction(db, uid, change, by, at)
  const type = kind === 'delete' ? 'bdb_deleted' : 'bdb_upgrade_requested'
  const details = kind === 'upgrade' && { details: { to: describeRuns(goal) } }
  await auditStore(db).append({ type, by, databaseUid: uid, ...details }, at)
}

/**
 * Records an upgrade without changes as completed, with `reason` as a warning. `db` is a transaction. Throws
 * ActiveActionExists.
 */
export async function recordNothing(
  db: Db,
  uid: number,
  { goal, reason, request, expected }: Nothing,
  by: Actor,
  at: string,
): Promise<string> {
  await refuseOutdated(db, expected)
  const action = randomUUID()
  const asked = { uid: action, databaseUid: uid, kind: 'upgrade', goal } as const
  await actionsStore(db).insert({ ...asked, request, requestedBy: by.name }, at)
  await actionsStore(db).update(action, { status: 'done', progress: 100, warnings: [reason] }, at)
  const details = { to: describeRuns(goal), change: false }
  await auditStore(db).append({ type: 'bdb_upgrade_requested', by, databaseUid: uid, details }, at)
  return action
}

/** Checks the catalogue for modules to use. A deletion checks databases instead. */
async function refuseGone(db: Db, modules: Goal['modules']): Promise<void> {
  for (const { uid, name } of modules) {
    if ((await modulesStore(db).get(uid)) === undefined)
      throw new Refusal('module_not_exist', `module ${uid} (${name}) has just been deleted`)
  }
}

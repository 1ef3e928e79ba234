import {
  type Build,
  changeableFields,
  changingDatabaseFields,
  createDatabase,
  type Database as DatabaseAnswer,
  deleteDatabase,
  getCredentials,
  getDatabase,
  type Input,
  isSet,
  listDatabases,
  type Output,
  updateDatabase,
} from '@fairlead/api'
import { actorOf, databasesFor } from '../../core/identity/access.ts'
import {
  type DatabasesFilter,
  type DatabasesOrder,
  placeOf,
  readBuildFilter,
} from '../../core/requests/list-order.ts'
import { asServed } from '../../core/state/serving.ts'
import type { Backups } from '../../fleet/backups/backups-service.ts'
import type { DatabaseChanges } from '../../fleet/databases/change-service.ts'
import type { Databases, DatabaseView } from '../../fleet/databases/databases-service.ts'
import type { RuleJudge } from '../../fleet/databases/rule-judge.ts'
import type { DeletionPlan, Deletions } from '../../fleet/endpoints/deletions-service.ts'
import type { UpgradeHint } from '../../fleet/upgrades/upgrade-hints.ts'
import { obstacleToWire } from '../../http/answer-error.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import type { AuditCounter } from '../../identity/audit/audit-counter.ts'
import { withBackup } from './backups-routes.ts'
import { changeFromWire } from './change-wire.ts'
import { fromWire, show, showWithoutSecrets, storedStatusOf } from './database-wire.ts'

/** Serves databases: list, creation, display, password, limits and deletion; `dry_run` changes nothing. */
export function databasesRoutes(
  mount: Mount,
  deps: {
    readonly databases: Databases
    readonly hints: () => Promise<UpgradeHint | undefined>
    readonly counter: Pick<AuditCounter, 'record'>
    readonly changes: DatabaseChanges
    readonly judge: Pick<RuleJudge, 'judgeBindings'>
    readonly deletions: Deletions
    readonly backups: Pick<Backups, 'get'>
  },
): void {
  const { databases, hints, counter, changes, judge, deletions, backups } = deps
  // Without hidden databases and secrets.
  mount(listDatabases, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const hint = await hints()
    const chosen = { ...pages.read(query), filter: filterOf(query), only }
    const { entries, next } = pages.answer(await databases.list(chosen), query)
    return { entries: entries.map((view) => withHint(showWithoutSecrets(view), hintFor(view, hint))), next }
  })

  mount(getDatabase, async ({ params }, caller) => {
    const [hint, view] = [await hints(), await databases.get(params.uid)]
    return withHint(show(view, caller), hintFor(view, hint))
  })

  mount(createDatabase, async ({ body }, caller) => {
    const { from_backup: name } = body
    // Its data are those of its database.
    const backup = name && (await backups.get(name, databasesFor(caller.user, 'start_bdb_export')))
    const request = backup ? { ...fromWire(withBackup(body, backup)), backup } : fromWire(body)
    await judge.judgeBindings(request.rolesPermissions ?? [], undefined)
    return show(await databases.create(request, actorOf(caller)), caller)
  })

  // The reading is recorded first.
  mount(getCredentials, async ({ params: { uid } }, caller) => {
    const view = await databases.get(uid)
    await counter.record({ type: 'bdb_credentials_read', by: actorOf(caller), databaseUid: uid })
    const { endpoints, tls_mode } = showWithoutSecrets(view)
    return { uid, username: 'default' as const, password: view.database.userPassword, endpoints, tls_mode }
  })

  mount(updateDatabase, async ({ params, query, body }, caller) => {
    const { request, rest: sent } = changeFromWire(body)
    // Programs send back unchanged fields.
    const settled = Object.fromEntries(
      Object.entries(sent).filter(([name]) => !changingDatabaseFields.includes(name)),
    )
    if (Object.keys(settled).length > 0) {
      const instead = `${changeableFields.join(', ')} can, and POST /v1/bdbs/${params.uid}/upgrade changes the engine`
      refuseOthers(settled, show(await databases.get(params.uid), caller), instead)
    }
    const view = isSet(query.dry_run)
      ? await changes.foresee(params.uid, request)
      : await changes.change(params.uid, request, actorOf(caller), changedIn(body))
    return show(view, caller)
  })

  mount(deleteDatabase, async ({ params: { uid }, query }, caller) => {
    if (isSet(query.dry_run)) return { uid, plan: planToWire(await deletions.foresee(uid)) }
    return { uid, action_uid: (await databases.remove(uid, actorOf(caller))).actionUid }
  })
}

/** The request of an action, without passwords and what a program only sends back. */
function changedIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = changeableFields.filter((name) => name in body && !name.endsWith('_pass'))
  return Object.fromEntries(shown.map((name) => [name, body[name]]))
}

function hintFor({ database, shards }: DatabaseView, hint: UpgradeHint | undefined) {
  return hint?.(asServed(database, shards))
}

/** Adds the upgrade build; undefined: unknown. */
function withHint(answer: DatabaseAnswer, to: Build | null | undefined): DatabaseAnswer {
  if (to === undefined) return answer
  return { ...answer, upgradable_to: to && { engine: to.flavour, engine_version: to.version } }
}

type Query = Input<typeof listDatabases>['query']

const pages = listPages<DatabasesOrder['by'], DatabaseView>({
  list: 'bdbs',
  sorts: {
    uid: 'number',
    name: 'text',
    memory_size: 'number',
    created_time: 'text',
    last_changed_time: 'text',
  },
  usual: 'uid',
  placeOf: ({ database }, by) => placeOf(database, { by }),
})

/** Wire words stop here. */
function filterOf({
  q,
  status,
  engine_version,
}: Pick<Query, 'q' | 'status' | 'engine_version'>): DatabasesFilter {
  return {
    ...(q !== undefined && { q }),
    ...(status !== undefined && storedStatusOf(status)),
    ...readBuildFilter(engine_version),
  }
}

function planToWire(plan: DeletionPlan): NonNullable<Output<typeof deleteDatabase>['plan']> {
  return {
    possible: plan.obstacles.length === 0,
    obstacles: plan.obstacles.map(obstacleToWire),
    clients: plan.clients,
    keys: plan.keys,
    shards: plan.shards,
    replicas: [...plan.replicas],
    standbys: [...plan.standbys],
    action_uid: plan.actionUid,
    data_persistence: plan.database.persistence,
    last_saved_time: plan.savedAt === null ? null : new Date(plan.savedAt).toISOString(),
    memory_used: plan.memoryUsedBytes,
    memory_reserved: plan.memoryReservedBytes,
  }
}

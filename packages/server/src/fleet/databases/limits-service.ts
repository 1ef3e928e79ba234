import { Refusal } from '@fairlead/api'
import type { Actor } from '../../core/identity/access.ts'
import { type LimitsRequest, type NewLimits, resolveLimits } from '../../core/requests/resolve-limits.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import type { Store } from '../../store/open-store.ts'
import type { Modules } from '../modules/modules-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databaseOrdersStore } from '../stores/database-orders-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import type { Databases, DatabaseView } from './databases-service.ts'

export type LimitChanges = ReturnType<typeof createLimitChanges>

/**
 * Changes limits of running databases without restarts. `nudge` wakes the reconciler after new limits are
 * recorded; `now` is Unix milliseconds.
 */
export function createLimitChanges(deps: {
  readonly store: Store
  readonly databases: Pick<Databases, 'get'>
  readonly modules: Pick<Modules, 'list'>
  /** Observes a database. Throws AgentUnreachable. */
  readonly look: (database: Database) => Promise<ObservedDatabase>
  readonly nudge: (databaseUid: number) => void
  readonly now: () => number
}) {
  const { store, databases, modules, look, nudge } = deps
  const resolve = async ({ database, action }: DatabaseView, request: LimitsRequest) => {
    const resolved = resolveLimits(request, {
      database,
      action,
      seen: await look(database),
      catalogue: await modules.list(),
    })
    if ('refused' in resolved) throw toRefusal(resolved)
    return resolved
  }
  return {
    /**
     * Records new limits for the engines' next turn and for new processes. Throws Refusal with every
     * obstacle, and AgentUnreachable.
     */
    async change(uid: number, request: LimitsRequest, by: Actor): Promise<DatabaseView> {
      const view = await databases.get(uid)
      const limits = await resolve(view, request)
      if (!limits.change) return view
      const at = new Date(deps.now()).toISOString()
      await store.transaction(async (db) => {
        // The checked state must still hold: another change may have come first.
        const [before, action] = [await databasesStore(db).get(uid), await actionsStore(db).active(uid)]
        if (before === undefined) throw new Refusal('db_not_exist', `database ${uid} does not exist`)
        const isSame =
          before.memoryBytes === view.database.memoryBytes &&
          before.evictionPolicy === view.database.evictionPolicy
        if (!isSame || action?.uid !== view.action?.uid)
          throw new Refusal(
            'db_busy',
            `database ${uid} was changed at the same moment; look at it, and send this again`,
          )
        await databasesStore(db).setLimits(uid, limits, at)
        await databaseOrdersStore(db).note(uid)
        const details = describeChange(before, limits)
        await auditStore(db).append({ type: 'bdb_updated', by, databaseUid: uid, details }, at)
      })
      nudge(uid)
      return databases.get(uid)
    },

    /** Returns the result of `change` without a change, and refuses equally. */
    async foresee(uid: number, request: LimitsRequest): Promise<DatabaseView> {
      const view = await databases.get(uid)
      const { memoryBytes, evictionPolicy } = await resolve(view, request)
      return { ...view, database: { ...view.database, memoryBytes, evictionPolicy } }
    },
  }
}

function describeChange(before: Database, { memoryBytes, evictionPolicy }: NewLimits) {
  return {
    ...(memoryBytes !== before.memoryBytes && {
      memory_size: memoryBytes,
      memory_size_before: before.memoryBytes,
    }),
    ...(evictionPolicy !== before.evictionPolicy && {
      eviction_policy: evictionPolicy,
      eviction_policy_before: before.evictionPolicy,
    }),
  }
}

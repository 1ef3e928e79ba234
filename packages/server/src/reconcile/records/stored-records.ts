import { actionsStore } from '../../actions/actions-store.ts'
import { handoversStore } from '../../actions/handovers-store.ts'
import { auditStore } from '../../audit/audit-store.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import type { Action } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import { databasesStore } from '../../databases/databases-store.ts'
import { shardsStore } from '../../databases/shards-store.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type {
  ActionRecords,
  ActionsOnRecord,
  AuditTrail,
  DatabaseRecords,
  DatabasesOnRecord,
  HandoverRecords,
  HandoversOnRecord,
  ShardRecords,
  ShardsOnRecord,
} from '../turn/ports.ts'

export type Records = DatabaseRecords<keyof DatabasesOnRecord> &
  ShardRecords<keyof ShardsOnRecord> &
  ActionRecords<keyof ActionsOnRecord> &
  HandoverRecords<keyof HandoversOnRecord> &
  AuditTrail

/** The records of the reconciler, kept in the store. The only place of it that knows one. */
export function storedRecords(store: Store): Records {
  const { db, transaction } = store
  return {
    databases: {
      ...databasesStore(db),
      setHistories: (uid, histories) =>
        transaction(async (within) => {
          const databases = databasesStore(within)
          for (const { group, history } of histories) await databases.setHistory(uid, group, history)
        }),
    },
    shards: {
      ...shardsStore(db),
      insert: (shard, at) => transaction((within) => shardsStore(within).insert(shard, at)),
      setNext: (id, { runs, follows, tlsPort }) =>
        transaction(async (within) => {
          const shards = shardsStore(within)
          await shards.setRuns(id, runs)
          await shards.setFollows(id, follows)
          if (tlsPort !== null) await shards.setTlsPort(id, tlsPort)
        }),
    },
    actions: {
      ...actionsStore(db),
      finish: (action, database, at) => transaction((within) => finish(within, action, database, at)),
    },
    handovers: {
      ...handoversStore(db),
      certify: ({ id, databaseUid, group, to }, certificate) =>
        transaction(async (within) => {
          await databasesStore(within).setPrimary(databaseUid, group, to)
          await handoversStore(within).certify(id, certificate)
        }),
    },
    audit: { append: (event, at) => transaction((within) => auditStore(within).append(event, at)) },
  }
}

async function finish(db: Db, action: Action, database: Database, at: string): Promise<void> {
  const failed = action.error !== null
  const databases = databasesStore(db)
  // Somebody may have taken it back, or turned it round, since this turn looked: then it has not reached its goal.
  const now = await actionsStore(db).get(action.uid)
  if (JSON.stringify(now?.goal) !== JSON.stringify(action.goal)) return
  const end = { status: failed ? 'failed' : 'done', progress: failed ? action.progress : 100 } as const
  await actionsStore(db).update(
    action.uid,
    {
      ...end,
      step: '',
      ...{ holdReason: null, waitingFor: '' },
      needsPerson: false,
      pending: [],
      ...(action.kind === 'upgrade' && { wayBack: { eligible: false, reason: 'it has ended' } }),
    },
    at,
  )
  await auditStore(db).append(
    {
      type: failed ? 'bdb_action_failed' : 'bdb_action_completed',
      by: fairlead,
      databaseUid: database.uid,
      details: { action: action.uid, kind: action.kind, ...(failed && { why: action.error ?? '' }) },
    },
    at,
  )
  if (action.kind === 'delete') return databases.remove(database.uid)
  if (failed && action.kind === 'create') return databases.setStatus(database.uid, 'creation-failed', at)
  if (!failed) await databases.setRuns(database.uid, action.goal, at)
  return databases.setStatus(database.uid, 'active', at)
}

import { type AuditEvent, fairlead } from '../../core/identity/audit-record.ts'
import type { Action } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import { type WayBack, wayBackClosed } from '../../core/state/way-back.ts'
import { actionLanesStore } from '../../fleet/stores/action-lanes-store.ts'
import { actionsStore } from '../../fleet/stores/actions-store.ts'
import { changesStore } from '../../fleet/stores/changes-store.ts'
import { databasesStore } from '../../fleet/stores/databases-store.ts'
import { handoverTapesStore } from '../../fleet/stores/handover-tapes-store.ts'
import { handoversStore } from '../../fleet/stores/handovers-store.ts'
import { shardsStore } from '../../fleet/stores/shards-store.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
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

/** All records of the reconciler. */
export type Records = DatabaseRecords<keyof DatabasesOnRecord> &
  ShardRecords<keyof ShardsOnRecord> &
  ActionRecords<keyof ActionsOnRecord> &
  HandoverRecords<keyof HandoversOnRecord> &
  AuditTrail

/**
 * Creates the reconciler's records in the store; no other module of the reconciler knows a store. `fence`:
 * first statement of every writing transaction; throws if this server may not write any more.
 */
export function storedRecords(
  store: Store,
  fence: (within: Db) => Promise<void> = async () => undefined,
): Records {
  const { db, transaction } = store
  const write = <T>(work: (within: Db) => Promise<T>) =>
    transaction(async (within) => {
      await fence(within)
      return work(within)
    })
  return {
    databases: databaseRecords(db, write),
    shards: shardRecords(db, write),
    actions: {
      get: (uid) => actionsStore(db).get(uid),
      active: (databaseUid) => actionsStore(db).active(databaseUid),
      listActive: () => actionsStore(db).listActive(),
      lanes: (uid) => actionLanesStore(db).of(uid),
      update: (uid, news, at) => write((within) => actionsStore(within).update(uid, news, at)),
      warn: (uid, warning, at) => write((within) => warn(within, uid, warning, at)),
      closeWayBack: (action, wayBack, at) => write((within) => closeWayBack(within, action, wayBack, at)),
      finish: (action, database, at) => write((within) => finish(within, action, database, at)),
    },
    handovers: handoverRecords(db, write),
    audit: { append: (event, at) => write((within) => auditStore(within).append(event, at)) },
  }
}

type Write = <T>(work: (within: Db) => Promise<T>) => Promise<T>

function databaseRecords(db: Db, write: Write): DatabasesOnRecord {
  const { listReserved, get, portsWithin, countPortsWithin } = databasesStore(db)
  return {
    listReserved,
    get,
    portsWithin,
    countPortsWithin,
    setPrimary: (uid, group, shard) =>
      write(async (within) => {
        await databasesStore(within).setPrimary(uid, group, shard)
        await changesStore(within).note('databases', uid)
      }),
    setHistories: (uid, histories) =>
      write(async (within) => {
        const databases = databasesStore(within)
        for (const { group, history } of histories) await databases.setHistory(uid, group, history)
      }),
    advanceHistories: (seen) =>
      write(async (within) => {
        const databases = databasesStore(within)
        for (const each of seen) await databases.advanceHistory(each)
      }),
    forgetFormer: (uid, ended) => write((within) => databasesStore(within).forgetFormer(uid, ended)),
    setEndpointPort: (uid, port) => write((within) => databasesStore(within).setEndpointPort(uid, port)),
    setObstacle: (uid, obstacle) => write((within) => databasesStore(within).setObstacle(uid, obstacle)),
  }
}

function shardRecords(db: Db, write: Write): ShardsOnRecord {
  const { list, listOf, reservedBytes, withReservation, databasesOf, limitBefore } = shardsStore(db)
  const { portsWithin, countPortsWithin } = shardsStore(db)
  return {
    list,
    listOf,
    reservedBytes,
    withReservation,
    databasesOf,
    limitBefore,
    portsWithin,
    countPortsWithin,
    insert: (shard, at) => write((within) => shardsStore(within).insert(shard, at)),
    setNext: (id, { runs, follows, tlsPort }) =>
      write(async (within) => {
        const shards = shardsStore(within)
        await shards.setRuns(id, runs)
        await shards.setFollows(id, follows)
        if (tlsPort !== null) await shards.setTlsPort(id, tlsPort)
      }),
    setFollows: (id, follows) => write((within) => shardsStore(within).setFollows(id, follows)),
    setLeaving: (id, leaving) => write((within) => shardsStore(within).setLeaving(id, leaving)),
    endReservations: (ids) => write((within) => shardsStore(within).endReservations(ids)),
    setLimitBefore: (id, before) => write((within) => shardsStore(within).setLimitBefore(id, before)),
    remove: (id) => write((within) => shardsStore(within).remove(id)),
  }
}

function handoverRecords(db: Db, write: Write): HandoversOnRecord {
  const { open, last } = handoversStore(db)
  return {
    open,
    last,
    intend: (intent) => write((within) => handoversStore(within).intend(intent)),
    certify: ({ id, databaseUid, group, to }, certificate) =>
      write(async (within) => {
        await databasesStore(within).setPrimary(databaseUid, group, to)
        await handoversStore(within).certify(id, certificate)
      }),
    release: (id) => write((within) => handoversStore(within).release(id)),
    close: (id, certificate, at) => write((within) => handoversStore(within).close(id, certificate, at)),
    keepTape: (id, tape) => write((within) => handoverTapesStore(within).keep(id, tape)),
  }
}

/** True if a user has rolled back or resumed the action since the look: it has another goal then. */
async function isSuperseded(db: Db, { uid, goal }: Action): Promise<boolean> {
  const now = await actionsStore(db).get(uid)
  return JSON.stringify(now?.goal) !== JSON.stringify(goal)
}

async function warn(db: Db, uid: string, warning: string, at: string): Promise<void> {
  const warnings = (await actionsStore(db).get(uid))?.warnings ?? []
  if (!warnings.includes(warning))
    await actionsStore(db).update(uid, { warnings: [...warnings, warning] }, at)
}

async function closeWayBack(db: Db, action: Action, wayBack: WayBack, at: string): Promise<boolean> {
  if (await isSuperseded(db, action)) return false
  await actionsStore(db).update(action.uid, { wayBack }, at)
  return true
}

function endOf({ uid, kind, ending, error }: Action, database: Database): AuditEvent {
  const event = { by: fairlead, databaseUid: database.uid }
  const details = { action: uid, kind }
  if (error === null) return { type: 'bdb_action_completed', ...event, details }
  const outcome = ending ?? 'failed'
  const type = outcome === 'failed' ? 'bdb_action_failed' : 'bdb_action_taken_back'
  return { type, ...event, details: { ...details, outcome, why: error } }
}

async function finish(db: Db, action: Action, database: Database, at: string): Promise<void> {
  const failed = action.error !== null
  const databases = databasesStore(db)
  if (await isSuperseded(db, action)) return
  const end = { status: failed ? 'failed' : 'done', progress: 100 } as const
  await actionsStore(db).update(
    action.uid,
    {
      ...end,
      step: '',
      holdReason: null,
      waitingFor: '',
      waiting: null,
      handingOver: false,
      needsPerson: false,
      pending: [],
      ...(action.kind === 'upgrade' && { wayBack: wayBackClosed('ended', 'it has ended') }),
    },
    at,
  )
  await auditStore(db).append(endOf(action, database), at)
  if (action.kind === 'delete') return databases.remove(database.uid)
  if (failed && action.kind === 'create') return databases.setStatus(database.uid, 'creation-failed', at)
  if (!failed) await databases.setRuns(database.uid, action.goal, at)
  return databases.setStatus(database.uid, 'active', at)
}

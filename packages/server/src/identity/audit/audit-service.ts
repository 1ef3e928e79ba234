import { isLoss, Refusal } from '@fairlead/api'
import { actorOf, type Caller, may, type Principal } from '../../core/identity/access.ts'
import type { AuditRecord } from '../../core/identity/audit-record.ts'
import { NEWS_MS, typesOfLosses, unseenLosses } from '../../core/identity/unseen-losses.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { type AuditQuery, auditStore } from '../stores/audit-store.ts'
import { verifyAudit } from './verify-audit.ts'

/** Query of a list of records. */
export type RecordsQuery = Omit<AuditQuery, 'databases'>

export type Audit = ReturnType<typeof createAudit>

/** Reads and verifies the audit of `store`; `now` is Unix milliseconds. */
export function createAudit(store: Store, now: () => number) {
  const unseen = async (db: Db, databases: Pick<AuditQuery, 'databases'>) => {
    const from = new Date(now() - NEWS_MS).toISOString()
    const chosen = {
      ...databases,
      from,
      types: typesOfLosses,
      order: 'desc',
      limit: MOST,
      offset: 0,
    } as const
    return unseenLosses(await auditStore(db).list(chosen))
  }
  return {
    /**
     * Returns the records that this caller may see: a user with a role for some databases sees their records.
     */
    list: (query: RecordsQuery, { user }: Caller) =>
      auditStore(store.db).list({ ...query, ...limitsOf(user) }),
    /** Returns possible losses that no user has seen, as far as the caller may see them, the newest first. */
    unseenLosses: ({ user }: Caller) => unseen(store.db, limitsOf(user)),
    /**
     * Records that the losses of a database have been seen, up to record `upTo`, which must be one of them.
     * Returns the unseen rest; throws Refusal.
     */
    seeLosses: (uid: number, upTo: number, by: Caller): Promise<readonly AuditRecord[]> =>
      store.transaction(async (db) => {
        const record = await auditStore(db).get(upTo)
        if (record === undefined || !isLoss(record.type) || record.databaseUid !== uid)
          throw new Refusal('invalid_request', `up_to: record ${upTo} is no loss of database ${uid}`)
        const before = await unseen(db, { databases: [uid] })
        const rest = before.filter(({ seq }) => seq > upTo)
        if (rest.length === before.length) return rest
        const event = { type: 'bdb_losses_seen', by: actorOf(by), databaseUid: uid } as const
        await auditStore(db).append({ ...event, details: { up_to: upTo } }, new Date(now()).toISOString())
        return rest
      }),
    verify: (head?: string) => verifyAudit(store.db, head),
  }
}

/** More than a cluster has in that time, with a record of each deletion. */
const MOST = 10_000

function limitsOf(user: Principal): Pick<AuditQuery, 'databases'> {
  return may(user, 'view_logged_events', 0) ? {} : { databases: databasesOf(user) }
}

/** Databases whose log the user may see: not every role that names a database allows that. */
function databasesOf(user: Principal): readonly number[] {
  return user.grants
    .flatMap(({ databases }) => databases ?? [])
    .filter((uid) => may(user, 'view_logged_events', uid))
}

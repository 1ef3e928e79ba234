import { type Caller, may, type Principal } from '../../core/identity/access.ts'
import type { Store } from '../../store/open-store.ts'
import { type AuditQuery, auditStore } from '../stores/audit-store.ts'
import { verifyAudit } from './verify-audit.ts'

/** Query of a list of records. */
export type RecordsQuery = Omit<AuditQuery, 'databases'>

export type Audit = ReturnType<typeof createAudit>

/** Reads and verifies the audit. Reads the records of `store`. */
export function createAudit(store: Store) {
  return {
    /**
     * Returns the records that this caller may see: a user with a role for some databases sees their records.
     */
    list: (query: RecordsQuery, { user }: Caller) => {
      const limited = may(user, 'view_logged_events', 0) ? {} : { databases: databasesOf(user) }
      return auditStore(store.db).list({ ...query, ...limited })
    },
    verify: (head?: string) => verifyAudit(store.db, head),
  }
}

/** Databases whose log the user may see: not every role that names a database allows that. */
function databasesOf(user: Principal): readonly number[] {
  return user.grants
    .flatMap(({ databases }) => databases ?? [])
    .filter((uid) => may(user, 'view_logged_events', uid))
}

import { type Caller, may, type Principal } from '../../core/identity/access.ts'
import type { AuditRecord } from '../../core/identity/audit-record.ts'
import type { Store } from '../../store/open-store.ts'
import { type AuditQuery, auditStore } from '../stores/audit-store.ts'
import { type Verification, verifyAudit } from './verify-audit.ts'

/** Query of a list of records. */
export type RecordsQuery = Omit<AuditQuery, 'databases'>

/** Reads and verifies the audit. */
export interface Audit {
  /**
   * Returns the records that this caller may see: a user with a role for some databases sees their records.
   */
  list(query: RecordsQuery, caller: Caller): Promise<readonly AuditRecord[]>
  verify(head?: string): Promise<Verification>
}

/** Reads the records of `store`. */
export function createAudit(store: Store): Audit {
  return {
    list: (query, { user }) => {
      const limited = may(user, 'view_logged_events', 0) ? {} : { databases: databasesOf(user) }
      return auditStore(store.db).list({ ...query, ...limited })
    },
    verify: (head) => verifyAudit(store.db, head),
  }
}

/** Databases whose log the user may see: not every role that names a database allows that. */
function databasesOf(user: Principal): readonly number[] {
  return user.grants
    .flatMap(({ databases }) => databases ?? [])
    .filter((uid) => may(user, 'view_logged_events', uid))
}

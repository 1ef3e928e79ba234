import { type Caller, may, type Principal } from '../../core/identity/access.ts'
import type { AuditRecord } from '../../core/identity/audit-record.ts'
import type { Store } from '../../store/open-store.ts'
import { type AuditQuery, auditStore } from '../stores/audit-store.ts'
import type { AuditFiles } from './audit-files.ts'
import { type Verification, verifyAudit } from './verify-audit.ts'

/** Which records a caller asks for. */
export type RecordsQuery = Omit<AuditQuery, 'databases'>

/** Reads and proves the audit; nothing is appended here. */
export interface Audit {
  /** The records that this caller may see: a user whose role is limited to some databases sees the records about those. */
  list(query: RecordsQuery, caller: Caller): Promise<readonly AuditRecord[]>
  verify(head?: string): Promise<Verification>
}

/** `store` has the newest records, `files` the sealed ones. */
export function createAudit(store: Store, files: AuditFiles): Audit {
  return {
    list: (query, { user }) => {
      const limited = may(user, 'view_logged_events', 0) ? {} : { databases: databasesOf(user) }
      return auditStore(store.db).list({ ...query, ...limited })
    },
    verify: (head) => verifyAudit(store.db, files, head),
  }
}

/** Those of which the user may see the log: not every role that names a database allows that. */
function databasesOf(user: Principal): readonly number[] {
  return user.grants
    .flatMap(({ databases }) => databases ?? [])
    .filter((uid) => may(user, 'view_logged_events', uid))
}

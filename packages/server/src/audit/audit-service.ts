import { type Caller, may } from '../core/access.ts'
import { type AuditEvent, type AuditRecord, NO_HASH } from '../core/audit-record.ts'
import type { Db, Store } from '../store/open-store.ts'
import { type AuditQuery, auditStore, hashOf } from './audit-store.ts'

export interface Audit {
  /** What this caller may see of it: whose role is limited to some databases sees what is about those. */
  list(query: Omit<AuditQuery, 'databases'>, caller: Caller): Promise<readonly AuditRecord[]>
  /** Writes down what belongs to no change of the store. */
  append(event: AuditEvent): Promise<void>
  verify(head?: string): Promise<Verification>
}

export interface Verification {
  readonly records: number
  /** `<number>:<hash>` of the last record. Kept elsewhere, it proves later that nothing was cut off or rewritten. */
  readonly head: string
  /** What does not fit; undefined: nothing. */
  readonly fault: string | undefined
}

export function createAudit(store: Store, now: () => number): Audit {
  return {
    list: (query, { user }) => {
      const limited = may(user, 'view_logged_events', 0) ? {} : { databases: databasesOf(user.grants) }
      return auditStore(store.db).list({ ...query, ...limited })
    },
    append: (event) => store.transaction((db) => auditStore(db).append(event, new Date(now()).toISOString())),
    verify: (head) => verifyAudit(store.db, head),
  }
}

/** Records that are looked at in one query. */
const PAGE = 1_000

/**
 * Walks the whole chain: every record's hash, its predecessor, no gap, and none missing at the end. With `head`, what a
 * verification answered before: that record must still be there as it was.
 */
export async function verifyAudit(db: Db, head?: string): Promise<Verification> {
  const audit = auditStore(db)
  let last = { seq: 0, hash: NO_HASH }
  let isHeadSeen = head === undefined || head === printHead(last)
  const end = (fault: string | undefined) => ({ records: last.seq, head: printHead(last), fault })

  for (
    let page = await audit.listAfter(0, PAGE);
    page.length > 0;
    page = await audit.listAfter(last.seq, PAGE)
  ) {
    for (const record of page) {
      const fault = faultOf(record, last)
      if (fault !== undefined) return end(fault)
      last = record
      isHeadSeen ||= head === printHead(last)
    }
  }
  const expected = await audit.lastNumber()
  if (expected !== last.seq) return end(`records ${last.seq + 1} to ${expected} are missing at the end`)
  return end(isHeadSeen ? undefined : `the record ${head} is not there any more: the audit was rewritten`)
}

function faultOf(
  record: AuditRecord,
  last: { readonly seq: number; readonly hash: string },
): string | undefined {
  if (record.seq !== last.seq + 1) return `record ${last.seq + 1} is missing`
  if (record.previous !== last.hash)
    return `record ${record.seq} does not follow record ${last.seq} as it is now`
  return record.hash === hashOf(record) ? undefined : `record ${record.seq} was changed`
}

const printHead = ({ seq, hash }: { readonly seq: number; readonly hash: string }) => `${seq}:${hash}`

function databasesOf(grants: Caller['user']['grants']): readonly number[] {
  return grants.flatMap(({ databases }) => databases ?? [])
}

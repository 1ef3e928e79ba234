import { type AuditRecord, NO_HASH } from '../../core/identity/audit-record.ts'
import type { Db } from '../../store/open-store.ts'
import { auditStore, hashOf } from '../stores/audit-store.ts'

/** Result of a verification of the audit. */
export interface Verification {
  /** Number of the last record: so many were written, `removed` among them. */
  readonly records: number
  /** `<number>:<hash>` of the last record. Kept elsewhere, it proves later that nothing was rewritten. */
  readonly head: string
  /** Number of records that were removed because of their age or number. */
  readonly removed: number
  /** Sentence about the first record that does not fit; undefined: all fit. */
  readonly fault: string | undefined
}

type Link = Pick<AuditRecord, 'seq' | 'hash'>

interface Walk {
  /** The record before the first one in the store, by the hash that the first one names. */
  start: Link
  last: Link
  /** The last removed record, by the records of removals. */
  removed: { readonly seq: number; readonly hash?: string }
  isHeadMet: boolean
}

/** Records of one query. */
const PAGE = 1_000

/**
 * Walks the chain from the last removed record: each record has its number, its hash and that of its
 * predecessor, none is missing at the end, and the record `head` is there, which an earlier verification
 * returned.
 */
export async function verifyAudit(db: Db, head?: string): Promise<Verification> {
  const expected = await auditStore(db).lastNumber() // before the walk: others append during it
  const [first] = await auditStore(db).listAfter(0, 1)
  const start = { seq: (first?.seq ?? 1) - 1, hash: first?.previous ?? NO_HASH }
  const walk: Walk = { start, last: start, removed: { seq: 0 }, isHeadMet: head === printHead(start) }
  const fault =
    (await walkRecords(db, walk, head)) ??
    faultOfStart(walk) ??
    faultOfEnd(walk, expected) ??
    (head === undefined || walk.isHeadMet ? undefined : faultOfHead(walk, head))
  return { records: walk.last.seq, head: printHead(walk.last), removed: start.seq, fault }
}

async function walkRecords(db: Db, walk: Walk, head: string | undefined): Promise<string | undefined> {
  for (;;) {
    const page = await auditStore(db).listAfter(walk.last.seq, PAGE)
    for (const record of page) {
      const fault = faultOf(record, walk.last)
      if (fault !== undefined) return fault
      walk.last = { seq: record.seq, hash: record.hash }
      walk.isHeadMet ||= printHead(record) === head
      noteRemoval(record, walk)
    }
    if (page.length < PAGE) return undefined
  }
}

function faultOf(record: AuditRecord, { seq, hash }: Link): string | undefined {
  if (record.seq !== seq + 1) return `record ${seq + 1} is missing`
  if (record.previous !== hash)
    return `record ${record.seq} does not follow record ${seq} in its present form`
  return record.hash === hashOf(record) ? undefined : `record ${record.seq} was changed`
}

/** Reads records of removals. Earlier versions wrote `audit_sealed` without a hash. */
function noteRemoval({ type, details }: AuditRecord, walk: Walk): void {
  if (type !== 'audit_removed' && type !== 'audit_sealed') return
  const [seq, hash] = [Number(details?.['last']), details?.['hash']]
  if (seq > walk.removed.seq) walk.removed = { seq, ...(hash !== undefined && { hash: String(hash) }) }
}

function faultOfStart({ start, removed }: Walk): string | undefined {
  if (start.seq !== removed.seq) return `record ${removed.seq + 1} is missing`
  if ((removed.hash ?? (start.seq === 0 ? NO_HASH : start.hash)) === start.hash) return undefined
  return `record ${start.seq + 1} does not follow the last removed record`
}

function faultOfEnd({ last }: Walk, expected: number): string | undefined {
  if (last.seq >= expected) return undefined
  return `records ${last.seq + 1} to ${expected} are missing at the end`
}

function faultOfHead({ start }: Walk, head: string): string {
  return Number(head.split(':')[0]) < start.seq
    ? `the record ${head} was removed because of its age`
    : `the record ${head} is not there any more: the audit was cut off or rewritten`
}

/** Returns the head of the audit as text, `<number>:<hash>`. */
export const printHead = ({ seq, hash }: Link) => `${seq}:${hash}`

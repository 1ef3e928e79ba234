import type { Db } from '../../store/open-store.ts'
import type { Tables } from '../../store/tables.ts'

/** Records that were moved from the store into a file, and the hashes that connect them with the records before and after. */
export interface AuditSegment {
  readonly first: number
  readonly last: number
  /** Hash of the record before the first. */
  readonly previous: string
  /** Hash of the last record. */
  readonly head: string
  readonly file: string
  /** Of the file, in hexadecimal. */
  readonly sha256: string
  readonly bytes: number
  readonly sealedAt: string
  /** When the file had to make room for others; null: it is there. */
  readonly removedAt: string | null
}

export interface AuditSegmentsStore {
  /** In order. */
  list(): Promise<readonly AuditSegment[]>
  insert(segment: AuditSegment): Promise<void>
  noteRemoved(first: number, now: string): Promise<void>
}

/** Rows about sealed files of the audit: which records each holds, and whether the file is still there. */
export function auditSegmentsStore(db: Db): AuditSegmentsStore {
  return {
    list: async () =>
      (await db.selectFrom('audit_segments').selectAll().orderBy('first_seq').execute()).map(fromRow),
    async insert({ first, last, sealedAt, removedAt, ...same }) {
      await db
        .insertInto('audit_segments')
        .values({ ...same, first_seq: first, last_seq: last, sealed_at: sealedAt, removed_at: removedAt })
        .execute()
    },
    async noteRemoved(first, now) {
      await db.updateTable('audit_segments').set({ removed_at: now }).where('first_seq', '=', first).execute()
    },
  }
}

function fromRow({
  first_seq,
  last_seq,
  sealed_at,
  removed_at,
  ...same
}: Tables['audit_segments']): AuditSegment {
  return { ...same, first: first_seq, last: last_seq, sealedAt: sealed_at, removedAt: removed_at }
}

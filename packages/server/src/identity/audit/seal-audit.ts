import { fairlead } from '../../core/identity/audit-record.ts'
import {
  type Retention,
  sealedBefore,
  sealUpTo,
  segmentsToRemove,
} from '../../core/identity/audit-retention.ts'
import type { Store } from '../../store/open-store.ts'
import { auditSegmentsStore } from '../stores/audit-segments-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import type { AuditFiles } from './audit-files.ts'

/** Of one file: some megabytes before it is packed. */
const MOST_IN_FILE = 10_000

/**
 * Takes records that are due out of the store into sealed files, and removes the oldest files where they take too much. Interrupted
 * anywhere, it is begun again: a record is in the store until its file is on disk.
 */
export async function sealAudit(
  { store, files, now }: { readonly store: Store; readonly files: AuditFiles; readonly now: () => number },
  retention: Retention,
  mostInStore?: number,
): Promise<void> {
  const audit = auditStore(store.db)
  const { first, last, lastOld } = await audit.extent(sealedBefore(retention, now()))
  const upTo = sealUpTo({ first, last, lastOld }, mostInStore)
  for (let from = first; upTo !== null && from <= upTo; ) {
    const records = await audit.listAfter(from - 1, Math.min(MOST_IN_FILE, upTo - from + 1))
    const [begin, end] = [records[0], records.at(-1)]
    if (begin === undefined || end === undefined) break
    const written = await files.writeSegment(records)
    const at = new Date(now()).toISOString()
    await store.transaction(async (db) => {
      const segment = { first: begin.seq, last: end.seq, previous: begin.previous, head: end.hash }
      await auditSegmentsStore(db).insert({ ...segment, ...written, sealedAt: at, removedAt: null })
      await auditStore(db).removeUpTo(end.seq)
      const details = { first: begin.seq, last: end.seq, file: written.file, sha256: written.sha256 }
      await auditStore(db).append({ type: 'audit_sealed', by: fairlead, details }, at)
    })
    from = end.seq + 1
  }
  await makeRoom({ store, files, now }, retention)
}

async function makeRoom(
  { store, files, now }: { readonly store: Store; readonly files: AuditFiles; readonly now: () => number },
  retention: Retention,
): Promise<void> {
  const there = (await auditSegmentsStore(store.db).list()).filter(({ removedAt }) => removedAt === null)
  for (const { first, last, file } of segmentsToRemove(there, retention)) {
    const at = new Date(now()).toISOString()
    await store.transaction(async (db) => {
      await auditSegmentsStore(db).noteRemoved(first, at)
      await auditStore(db).append({ type: 'audit_removed', by: fairlead, details: { first, last, file } }, at)
    })
    await files.removeSegment(file)
  }
}

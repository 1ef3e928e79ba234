import type { LossType } from '@fairlead/api'
import type { AuditRecord, AuditType } from './audit-record.ts'

/** A record counts as news for this long. */
export const NEWS_MS = 30 * 24 * 3_600_000

const losses = [
  'bdb_primary_replaced',
  'bdb_primary_lost_memory',
  'bdb_handover_lost_writes',
] as const satisfies readonly LossType[]

/** Types of records that `unseenLosses` reads. */
export const typesOfLosses = [
  ...losses,
  'bdb_losses_seen',
  'bdb_deleted',
] as const satisfies readonly AuditType[]

/** Returns the losses in `records`, in their order, that no user has seen and whose database exists. */
export function unseenLosses(records: readonly AuditRecord[]): readonly AuditRecord[] {
  const seen = new Map<number | undefined, number>()
  for (const { type, databaseUid, seq, details } of records) {
    if (type !== 'bdb_losses_seen' && type !== 'bdb_deleted') continue
    const upTo = type === 'bdb_deleted' ? seq : Number(details?.['up_to'])
    seen.set(databaseUid, Math.max(upTo, seen.get(databaseUid) ?? 0))
  }
  return records.filter(
    ({ type, databaseUid, seq }) =>
      losses.some((loss) => loss === type) && seq > (seen.get(databaseUid) ?? 0),
  )
}

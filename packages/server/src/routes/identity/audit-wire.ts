import type { LogEntry } from '@fairlead/api'
import { type AuditRecord, auditTypes } from '../../core/identity/audit-record.ts'

/** A record of the audit on the wire. */
export function toWire({ seq, at, type, by, databaseUid, details, hash }: AuditRecord): LogEntry {
  return {
    uid: seq,
    time: at.replace(/\.\d+Z$/, 'Z'),
    recorded_at: at,
    type,
    severity: auditTypes[type],
    originator: by.name,
    ...(by.uid !== null && { user_uid: by.uid }),
    ...(by.address !== null && { address: by.address }),
    // An older store may have a value like Infinity from a refused request: the page is still answered.
    ...(Number.isSafeInteger(databaseUid) && { bdb_uid: String(databaseUid) }),
    details: details ?? {},
    hash,
  }
}

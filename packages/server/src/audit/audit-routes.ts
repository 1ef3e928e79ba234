import { type LogEntry, listLogs, Refusal } from '@fairlead/api'
import { type AuditRecord, auditTypes } from '../core/identity/audit-record.ts'
import type { Mount } from '../http/mount.ts'
import type { Audit } from './audit-service.ts'

/** Serves GET /v1/logs. A time that cannot be read is refused with `invalid_request`. */
export function auditRoutes(mount: Mount, audit: Audit): void {
  mount(listLogs, async ({ query }, caller) => {
    const from = readTime('stime', query.stime)
    const to = endOfSecond(readTime('etime', query.etime), query.etime)
    const page = { order: query.order ?? 'asc', limit: query.limit ?? 1_000, offset: query.offset ?? 0 }
    const records = await audit.list({ ...page, ...(from && { from }), ...(to && { to }) }, caller)
    return records.map(toWire)
  })
}

/** Times are kept in UTC with milliseconds, so that they sort as text. */
function readTime(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) {
    throw new Refusal('invalid_request', `${field}: is not a time; write it as 2026-11-21T12:00:00Z`)
  }
  return time.toISOString()
}

/** Records are shown with whole seconds: an end without a fraction is the whole of its second. */
function endOfSecond(time: string | undefined, text: string | undefined): string | undefined {
  return time === undefined || text?.includes('.') ? time : time.replace('.000Z', '.999Z')
}

function toWire({ seq, at, type, by, databaseUid, details, hash }: AuditRecord): LogEntry {
  return {
    uid: seq,
    time: at.replace(/\.\d+Z$/, 'Z'),
    recorded_at: at,
    type,
    severity: auditTypes[type],
    originator: by.name,
    ...(by.uid !== null && { user_uid: by.uid }),
    ...(by.address !== null && { address: by.address }),
    // An older store may have a value that a refused request named, like Infinity: the rest of the page is still answered.
    ...(Number.isSafeInteger(databaseUid) && { bdb_uid: String(databaseUid) }),
    details: details ?? {},
    hash,
  }
}

import { listLogs, Refusal } from '@fairlead/api'
import type { Mount } from '../http/mount.ts'
import type { Audit } from './audit-service.ts'
import { toWire } from './audit-wire.ts'

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

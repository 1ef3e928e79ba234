import { type Input, type LogEntry, listLogs, listLosses, Refusal, seeLosses, timeIn } from '@fairlead/api'
import { type AuditRecord, type AuditType, auditTypes } from '../../core/identity/audit-record.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { InvalidInput } from '../../http/compile-validator.ts'
import { readCursor, writeCursor } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import type { Audit, RecordsQuery } from '../../identity/audit/audit-service.ts'

type Query = Input<typeof listLogs>['query']

/**
 * Serves the audit and the losses in it. Refuses unreadable times with `invalid_request`. `databaseOf`
 * returns an action's database; undefined: no such action.
 */
export function auditRoutes(
  mount: Mount,
  audit: Audit,
  databases: Pick<Databases, 'get'>,
  databaseOf: (action: string) => Promise<number | undefined>,
): void {
  mount(listLogs, async ({ query }, caller) => {
    const { limit = 1_000, order = 'asc', action_uid: action } = query
    const about = action === undefined ? {} : await aboutAction(action, query.bdb_uid, databaseOf)
    if (about === undefined) return { entries: [], next: undefined }
    // The extra record shows whether more follow.
    const records = await audit.list({ ...readQuery(query), ...about, order, limit: limit + 1 }, caller)
    const last = records.length > limit ? records[limit - 1] : undefined
    return {
      entries: records.slice(0, limit).map(toWire),
      next: last && writeCursor({ list: 'logs', order }, { value: last.seq, uid: 0 }),
    }
  })

  mount(listLosses, async (_, caller) => (await audit.unseenLosses(caller)).map(toWire))
  mount(seeLosses, async ({ params: { uid }, body }, caller) => {
    await databases.get(uid)
    return (await audit.seeLosses(uid, body.up_to, caller)).map(toWire)
  })
}

/** Undefined: no record can match both. */
async function aboutAction(
  action: string,
  databaseUid: number | undefined,
  databaseOf: (action: string) => Promise<number | undefined>,
): Promise<Pick<RecordsQuery, 'action' | 'databaseUid'> | undefined> {
  const uid = await databaseOf(action)
  if (uid === undefined || (databaseUid !== undefined && databaseUid !== uid)) return undefined
  return { action, databaseUid: uid }
}

function readQuery(query: Query): Omit<RecordsQuery, 'order' | 'limit'> {
  const from = readTime('stime', query.stime)
  const to = endOfSecond(readTime('etime', query.etime), query.etime)
  const after = readCursor({ list: 'logs', order: query.order ?? 'asc' }, 'number', query.cursor)
  const types = typesOf(query)
  return {
    offset: query.offset ?? 0,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(after !== undefined && { after: Number(after.value) }),
    ...(types !== undefined && { types }),
    ...(query.bdb_uid !== undefined && { databaseUid: query.bdb_uid }),
    ...(query.originator !== undefined && { originator: query.originator }),
  }
}

/** The matching types; a severity means all its types; undefined: any. Throws InvalidInput. */
function typesOf({ type, severity }: Pick<Query, 'type' | 'severity'>): readonly string[] | undefined {
  if (type === undefined && severity === undefined) return undefined
  const all = Object.keys(auditTypes) as AuditType[] // the keys of a table
  if (type !== undefined && !all.some((name) => name === type)) {
    const message = `type: must be one of ${all.join(', ')}`
    throw new InvalidInput([{ field: 'type', message }])
  }
  return all.filter(
    (name) => (type ?? name) === name && (severity === undefined || auditTypes[name] === severity),
  )
}

/** UTC with milliseconds, so that times sort as text. */
function readTime(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = timeIn(text)
  if (Number.isNaN(time)) {
    throw new Refusal('invalid_request', `${field}: is not a time; write it as 2026-11-21T12:00:00Z`)
  }
  return new Date(time).toISOString()
}

/** Records are shown in whole seconds, so an end without fraction includes its second. */
function endOfSecond(time: string | undefined, text: string | undefined): string | undefined {
  return time === undefined || text?.includes('.') ? time : time.replace('.000Z', '.999Z')
}

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

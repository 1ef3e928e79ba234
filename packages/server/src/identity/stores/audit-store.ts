import { createHash } from 'node:crypto'
import type { Actor } from '../../core/identity/access.ts'
import {
  type AuditEvent,
  type AuditRecord,
  type AuditType,
  hashedText,
  NO_HASH,
} from '../../core/identity/audit-record.ts'
import { EVENT_COUNTER, eventNumbersStore, putCounter, readCounter } from '../../store/event-numbers-store.ts'
import { nextIds } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { storableText } from '../../store/storable.ts'
import type { Tables } from '../../store/tables.ts'

/** Which records a list has; `limit` and `offset` count records. */
export interface AuditQuery {
  /** ISO 8601 in UTC, with milliseconds; both ends belong to it. */
  readonly from?: string
  readonly to?: string
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
  /** Only records about these databases; without it, all. */
  readonly databases?: readonly number[]
  /** Only those after this one, in the order of the list. */
  readonly after?: number
  readonly databaseUid?: number
  /** Only those whose details name this action. */
  readonly action?: string
  readonly types?: readonly string[]
  /** Name of the user that did it. */
  readonly originator?: string
}

/** A record, and its place among all events of the cluster. */
export interface PlacedRecord {
  readonly place: number
  readonly record: AuditRecord
}

const LOGGED = 'audit_logged'

/**
 * `append` belongs into the transaction of the change that it records. Each record carries the hash of the
 * one before.
 */
export function auditStore(db: Db) {
  return {
    /** Adds the next record. Call it in the transaction of what it is about: both are there, or neither. */
    append: (event: AuditEvent, now: string) => append(db, event, now),
    list: (query: AuditQuery) => listRecords(db, query),
    /** Some records after number `seq`, in order. */
    async listAfter(seq: number, limit: number): Promise<readonly AuditRecord[]> {
      const query = db.selectFrom('audit').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit)
      return (await query.execute()).map(fromRow)
    },
    /** Some records by their places among all events: after one place, and up to another, in order. */
    async between(after: number, upTo: number, limit: number): Promise<readonly PlacedRecord[]> {
      const query = db.selectFrom('audit').selectAll().where('event_seq', '>', after)
      const rows = await query.where('event_seq', '<=', upTo).orderBy('event_seq').limit(limit).execute()
      return rows.map((row) => ({ place: row.event_seq ?? 0, record: fromRow(row) }))
    },
    /** The number that the last record must have. */
    lastNumber: () => readCounter(db, 'audit'),
    /** Number of the last record in the server's log; 0: none is. */
    loggedUpTo: () => readCounter(db, LOGGED),
    noteLogged: (seq: number) => putCounter(db, LOGGED, seq),
    async get(seq: number): Promise<AuditRecord | undefined> {
      const row = await db.selectFrom('audit').selectAll().where('seq', '=', seq).executeTakeFirst()
      return row && fromRow(row)
    },
    async last(): Promise<AuditRecord | undefined> {
      const query = db.selectFrom('audit').selectAll().orderBy('seq', 'desc').limit(1)
      const row = await query.executeTakeFirst()
      return row && fromRow(row)
    },
    /**
     * The first and last number in the store (0: it is empty), and the last one before a record of `since` or
     * later.
     */
    async extent(since: string): Promise<{ first: number; last: number; lastOld: number }> {
      const all = db
        .selectFrom('audit')
        .select((eb) => [eb.fn.min('seq').as('first'), eb.fn.max('seq').as('last')])
      const { first, last } = await all.executeTakeFirstOrThrow()
      const young = db.selectFrom('audit').select('seq').where('at', '>=', since).orderBy('seq').limit(1)
      const kept = (await young.executeTakeFirst())?.seq
      return { first: first ?? 0, last: last ?? 0, lastOld: kept === undefined ? (last ?? 0) : kept - 1 }
    },
    /**
     * Removes all up to number `seq`. The caller records the end of what it removes in the same transaction.
     */
    removeUpTo: (seq: number) => removeUpTo(db, seq),
  }
}

async function append(db: Db, event: AuditEvent, now: string): Promise<void> {
  // The counters come first: on a store with several servers, they wait for each other at these rows.
  const { audit: seq, action_event: place } = await nextIds(db, ['audit', EVENT_COUNTER])
  const last = await db
    .selectFrom('audit')
    .select('hash')
    .where('seq', '=', seq - 1)
    .executeTakeFirst()
  const record = { ...event, by: storableActor(event.by), seq, at: now, previous: last?.hash ?? NO_HASH }
  await db
    .insertInto('audit')
    .values({
      ...toRow({ ...record, hash: hashOf(record) }),
      event_seq: place,
    })
    .execute()
}

async function removeUpTo(db: Db, seq: number): Promise<void> {
  const places = db.selectFrom('audit').select((eb) => eb.fn.max('event_seq').as('last'))
  const { last } = await places.where('seq', '<=', seq).executeTakeFirstOrThrow()
  await db.deleteFrom('audit').where('seq', '<=', seq).execute()
  if (last !== null) await eventNumbersStore(db).noteGone(last)
}

async function listRecords(db: Db, chosen: AuditQuery): Promise<readonly AuditRecord[]> {
  const { from, to, order, limit, offset, databases, after, databaseUid, action, types, originator } = chosen
  if (types?.length === 0 || databases?.length === 0) return []
  let query = db.selectFrom('audit').selectAll().orderBy('seq', order).limit(limit).offset(offset)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<=', to)
  if (databases !== undefined) query = query.where('database_uid', 'in', [...databases])
  if (databaseUid !== undefined) query = query.where('database_uid', '=', databaseUid)
  if (after !== undefined) query = query.where('seq', order === 'asc' ? '>' : '<', after)
  if (types !== undefined) query = query.where('type', 'in', [...types])
  if (originator !== undefined) query = query.where('originator', '=', originator)
  // Its database is given, too: only the records about that are read.
  if (action !== undefined) query = query.where('details', 'like', `%"action":"${action}"%`)
  return (await query.execute()).map(fromRow)
}

/** The hash is of what is read again. Details are JSON, which writes such characters as escapes. */
function storableActor({ uid, name, address }: Actor): Actor {
  return { uid, name: storableText(name), address: address === null ? null : storableText(address) }
}

/** SHA-256 of a record's text, in hexadecimal. */
export function hashOf(record: Omit<AuditRecord, 'hash'>): string {
  return createHash('sha256').update(hashedText(record)).digest('hex')
}

function toRow({
  seq,
  at,
  type,
  by,
  databaseUid,
  details = {},
  previous,
  hash,
}: AuditRecord): Omit<Tables['audit'], 'event_seq'> {
  return {
    seq,
    at,
    type,
    user_uid: by.uid,
    originator: by.name,
    address: by.address,
    database_uid: databaseUid ?? null,
    details: JSON.stringify(details),
    previous,
    hash,
  }
}

/** Reads what `toRow` wrote, or what was changed in the file since: the hash tells. */
function fromRow(row: Tables['audit']): AuditRecord {
  return {
    seq: row.seq,
    at: row.at,
    type: row.type as AuditType,
    by: { uid: row.user_uid, name: row.originator, address: row.address },
    ...(row.database_uid !== null && { databaseUid: row.database_uid }),
    details: detailsOf(row.details),
    previous: row.previous,
    hash: row.hash,
  }
}

/**
 * Details that are no JSON object were changed from outside. The record is still read, so that a list has it;
 * the mark takes part in its hash, so that a verification names it.
 */
function detailsOf(text: string): NonNullable<AuditRecord['details']> {
  try {
    const value: unknown = JSON.parse(text)
    if (isDetails(value)) return value
  } catch {
    // Answered below: what JSON.parse says quotes the text.
  }
  return { unreadable: true }
}

function isDetails(value: unknown): value is NonNullable<AuditRecord['details']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => ['string', 'number', 'boolean'].includes(typeof each))
}

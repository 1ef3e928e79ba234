import type { AuditEvent, AuditType } from './audit-record.ts'

/** Events that clients can cause without limit, and the number recorded individually in an hour. */
const countedAfter: Partial<Readonly<Record<AuditType, number>>> = {
  permission_refused: 10,
  login_failed: 10,
  user_locked: 10,
  login_succeeded: 100,
  logged_out: 100,
  bdb_command_given: 100,
  bdb_credentials_read: 100,
}

/** Limit of distinct events counted separately for one user or address in an hour. */
const MOST_KINDS = 50
/** Limit of users and addresses counted separately in an hour. */
const MOST_ACTORS = 1_000
const HOUR_MS = 3_600_000

/** Equal events of one hour. */
interface Kind {
  readonly event: AuditEvent
  readonly seen: number
  /** Number since the last record about them. */
  readonly unwritten: number
  readonly sinceMs: number
}

/** Counts since `fromMs`: kinds of events by actor. */
export interface Tally {
  readonly fromMs: number
  readonly actors: ReadonlyMap<string, ReadonlyMap<string, Kind>>
}

export interface Counted {
  readonly tally: Tally
  /** The record to write about the event; null if it is only counted. */
  readonly record: AuditEvent | null
}

/** Creates an empty tally; its hour begins at `nowMs` (Unix ms). */
export function newTally(nowMs: number): Tally {
  return { fromMs: nowMs, actors: new Map() }
}

/** True if records of this type are only counted after the first few in an hour. */
export function isCounted({ type }: AuditEvent): boolean {
  return countedAfter[type] !== undefined
}

/** True if the tally's hour has passed, or the clock was set back before its start. */
export function isOver({ fromMs }: Tally, nowMs: number): boolean {
  return nowMs >= fromMs + HOUR_MS || nowMs < fromMs
}

/**
 * Counts an event. The first equal ones of an hour are recorded individually; after that the hundredth,
 * thousandth and so on, and the end of the hour, record the number since the last record (`times`).
 */
export function countEvent(tally: Tally, event: AuditEvent, nowMs: number): Counted {
  const [who, what, told] = placeOf(tally, event)
  const known = tally.actors.get(who)?.get(what)
  const seen = (known?.seen ?? 0) + 1
  const unwritten = (known?.unwritten ?? 0) + 1
  const sinceMs = known !== undefined && known.unwritten > 0 ? known.sinceMs : nowMs
  const isDue = seen <= (countedAfter[event.type] ?? 0) || isPowerOfTen(seen)
  const kind: Kind = { event: told, seen, unwritten: isDue ? 0 : unwritten, sinceMs }
  const kinds = new Map(tally.actors.get(who)).set(what, kind)
  const record = isDue ? describe({ ...kind, unwritten }) : null
  return { tally: { ...tally, actors: new Map(tally.actors).set(who, kinds) }, record }
}

/** Returns records of events that were counted and not recorded yet. */
export function restOf({ actors }: Tally): readonly AuditEvent[] {
  const kinds = [...actors.values()].flatMap((some) => [...some.values()])
  return kinds.filter(({ unwritten }) => unwritten > 0).map(describe)
}

/** Returns the actor and kind under which an event is counted. */
function placeOf(
  { actors }: Tally,
  event: AuditEvent,
): readonly [who: string, what: string, told: AuditEvent] {
  const { by, type } = event
  const who = by.uid === null ? `at ${by.address}` : `user ${by.uid}`
  if (!actors.has(who) && actors.size >= MOST_ACTORS) {
    return ['many', type, { type, by: { uid: null, name: '', address: null }, details: { of: 'many' } }]
  }
  const what = JSON.stringify([type, by.name, by.address, event.databaseUid, event.details])
  const kinds = actors.get(who)
  if (kinds === undefined || kinds.has(what) || kinds.size < MOST_KINDS) return [who, what, event]
  const name = by.uid === null ? '' : by.name
  return [who, type, { type, by: { ...by, name }, details: { of: 'various' } }]
}

function describe({ event, unwritten, sinceMs }: Kind): AuditEvent {
  if (unwritten < 2) return event
  return {
    ...event,
    details: { ...event.details, times: unwritten, sinceSeconds: Math.floor(sinceMs / 1000) },
  }
}

function isPowerOfTen(count: number): boolean {
  return /^10+$/.test(String(count))
}

import type { Action, Database } from '@fairlead/api'
import { type Mark, type Runs, runsOf } from './describe-action.ts'
import { deadline } from './format.ts'

const marks: Readonly<Record<Database['status'], Mark>> = {
  pending: { sign: 'changing', tone: 'busy', label: 'being created' },
  active: { sign: 'active', tone: 'ok', label: 'active' },
  'active-change-pending': { sign: 'changing', tone: 'busy', label: 'changing' },
  'delete-pending': { sign: 'changing', tone: 'quiet', label: 'being deleted' },
  'creation-failed': { sign: 'failed', tone: 'bad', label: 'creation failed' },
  recovery: { sign: 'stuck', tone: 'bad', label: 'recovery' },
}

/** The state of a database. `action`: the running one, if known: nothing changes while its window is open. */
export function markOfDatabase(
  { status }: Pick<Database, 'status'>,
  action: Pick<Action, 'phase' | 'window_ends'> | undefined,
  now: number,
): Mark {
  if (status !== 'active-change-pending' || action?.phase !== 'window') return marks[status]
  const { window_ends: ends } = action
  const until = ends === null ? 'finalized' : deadline(ends, now)
  return { sign: 'waits', tone: 'ok', label: `rollback window open until ${until}` }
}

/** The state of its service. */
export function markOfService(isServed: boolean): Mark {
  return isServed
    ? { sign: 'active', tone: 'ok', label: 'served' }
    : { sign: 'stuck', tone: 'bad', label: 'not served' }
}

/** "db1.example:26005"; null: nothing serves yet. */
export function addressOf({ endpoints }: Pick<Database, 'endpoints'>): string | null {
  const [first] = endpoints
  if (first === undefined) return null
  return `${first.addr[0] ?? first.dns_name}:${first.port}`
}

/** "3 × 2": groups, and processes per group. */
export function groupsOf({
  shards_count: groups,
  replication,
}: Pick<Database, 'shards_count' | 'replication'>): string {
  return `${groups} × ${replication ? 2 : 1}`
}

/** The serving build of a database, and its upgrade's direction. */
export interface Course {
  readonly serves: Runs
  /** The direction, like "valkey 9.1.2" or "back to redis 7.0.15", and the phase; null: no upgrade. */
  readonly goes: readonly [where: string, how: string] | null
}

/** A database's record has the old build until its upgrade has ended. `action`: the running one, if known. */
export function courseOf(database: Runs, action: CourseAction | undefined): Course {
  if (action === undefined || action.phase === 'ended' || action.from === null || action.goal === null)
    return { serves: database, goes: null }
  const { phase, from, goal } = action
  if (runsOf(from) === runsOf(goal)) return { serves: from, goes: ['the same build', 'new processes'] }
  if (phase === 'window') return { serves: goal, goes: [`back to ${runsOf(from)}`, 'way back kept'] }
  if (phase === 'finishing') return { serves: goal, goes: [`stays on ${runsOf(goal)}`, 'finishing'] }
  if (phase === 'undoing') return { serves: from, goes: [`back to ${runsOf(from)}`, 'going back'] }
  return { serves: from, goes: [runsOf(goal), 'upgrading'] }
}

type CourseAction = Pick<Action, 'phase' | 'from' | 'goal'>

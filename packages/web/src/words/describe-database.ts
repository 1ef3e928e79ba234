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

/** The state of a database. Nothing changes while only its rollback window is open. */
export function markOfDatabase(
  { status, rollback_window: ends }: Pick<Database, 'status' | 'rollback_window'>,
  now: number,
): Mark {
  if (status !== 'active-change-pending' || ends === undefined) return marks[status]
  const until = ends === 'until_finalized' ? 'finalized' : deadline(ends, now)
  return { sign: 'waits', tone: 'ok', label: `rollback window open until ${until}` }
}

/** The state of its service. */
export function markOfService(isServed: boolean): Mark {
  return isServed
    ? { sign: 'active', tone: 'ok', label: 'served' }
    : { sign: 'stuck', tone: 'bad', label: 'not served' }
}

/** "db1.example:26005", "[fd00::2]:26005"; null: nothing serves yet. */
export function addressOf({ endpoints: [first] }: Pick<Database, 'endpoints'>): string | null {
  if (first === undefined) return null
  const { dns_name: name, port } = first
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}

/** True if clients of other machines reach the database, and have no TLS. */
export function isOpenWithoutTls({ endpoints, tls_mode }: Pick<Database, 'endpoints' | 'tls_mode'>): boolean {
  return tls_mode === 'disabled' && endpoints.some(({ addr_type }) => addr_type === 'external')
}

/** "3 × 2": groups, and processes per group. */
export function groupsOf({
  shards_count: groups,
  replication,
}: Pick<Database, 'shards_count' | 'replication'>): string {
  return `${groups} × ${replication ? 2 : 1}`
}

/** The serving build: "valkey 8.1.1", or while groups differ "redis 7.0.15 (1), valkey 8.1.1 (2)". */
export function servingOf({ serving, ...named }: Pick<Database, 'serving'> & Runs): string {
  if (serving.length < 2) return runsOf(named)
  return serving.map((build) => `${runsOf(build)} (${build.primaries})`).join(', ')
}

/** Where the upgrade goes, like "valkey 9.1.2" or "back to redis 7.0.15", and the phase; null: none runs. */
export function courseOf(
  action: Pick<Action, 'phase' | 'from' | 'goal'> | undefined,
): readonly [where: string, how: string] | null {
  if (action === undefined || action.phase === 'ended' || action.from === null || action.goal === null)
    return null
  const { phase } = action
  const [from, goal] = [runsOf(action.from), runsOf(action.goal)]
  if (from === goal) return ['the same build', 'new processes']
  if (phase === 'window') return [`back to ${from}`, 'way back kept']
  if (phase === 'finishing') return [`stays on ${goal}`, 'finishing']
  if (phase === 'undoing') return [`back to ${from}`, 'going back']
  return [goal, 'upgrading']
}

import type { Database } from '@fairlead/api'
import type { Mark } from './describe-action.ts'

const marks: Readonly<Record<Database['status'], Mark>> = {
  pending: { sign: 'changing', tone: 'busy', label: 'being created' },
  active: { sign: 'active', tone: 'ok', label: 'active' },
  'active-change-pending': { sign: 'changing', tone: 'busy', label: 'changing' },
  'delete-pending': { sign: 'changing', tone: 'quiet', label: 'being deleted' },
  'creation-failed': { sign: 'failed', tone: 'bad', label: 'creation failed' },
  recovery: { sign: 'stuck', tone: 'bad', label: 'recovery' },
}

/** How it is with a database. */
export function markOfDatabase({ status }: Pick<Database, 'status'>): Mark {
  return marks[status]
}

/** Whether clients are served. */
export function markOfService(isServed: boolean): Mark {
  return isServed
    ? { sign: 'active', tone: 'ok', label: 'served' }
    : { sign: 'stuck', tone: 'bad', label: 'not served' }
}

/** "db1.example:26005", or null while nothing serves yet. */
export function addressOf({ endpoints }: Pick<Database, 'endpoints'>): string | null {
  const [first] = endpoints
  if (first === undefined) return null
  return `${first.addr[0] ?? first.dns_name}:${first.port}`
}

/** "3 × 2": groups, and processes that hold each of them. */
export function groupsOf({
  shards_count: groups,
  replication,
}: Pick<Database, 'shards_count' | 'replication'>): string {
  return `${groups} × ${replication ? 2 : 1}`
}

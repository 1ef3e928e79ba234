import type { EventTopic, Permission } from '@fairlead/api'
import { may, type Principal } from './access.ts'

const permissionOf: Readonly<Record<EventTopic, Permission>> = {
  actions: 'view_status_of_cluster_action',
  databases: 'view_all_bdbs_info',
  nodes: 'view_all_nodes_info',
  audit: 'view_logged_events',
}

/**
 * True if a user may see events of this topic at all, or those of one database. `databaseUid` null: of none,
 * which requires a user without limits.
 */
export function mayWatch(user: Principal, topic: EventTopic, databaseUid?: number | null): boolean {
  // Nodes concern all users: their events contain nothing that a limited user may not see.
  if (databaseUid === undefined || topic === 'nodes') return may(user, permissionOf[topic])
  return may(user, permissionOf[topic], databaseUid ?? NO_DATABASE)
}

const NO_DATABASE = 0

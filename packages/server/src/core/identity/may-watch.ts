import type { EventTopic, Permission } from '@fairlead/api'
import { may, type Principal } from './access.ts'

const permissionOf: Readonly<Record<EventTopic, Permission>> = {
  actions: 'view_status_of_cluster_action',
  databases: 'view_all_bdbs_info',
  nodes: 'view_all_nodes_info',
  audit: 'view_logged_events',
}

/** Whether a user may see events of this topic at all, or those about one database. `databaseUid` null: about none, which is for users that are not limited to some. */
export function mayWatch(user: Principal, topic: EventTopic, databaseUid?: number | null): boolean {
  // Nodes concern all: what a limited user may not see of one is no part of its events.
  if (databaseUid === undefined || topic === 'nodes') return may(user, permissionOf[topic])
  return may(user, permissionOf[topic], databaseUid ?? NO_DATABASE)
}

const NO_DATABASE = 0

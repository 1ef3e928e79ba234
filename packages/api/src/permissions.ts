/** The management roles, from the most to the least powerful. Source: facts of the wider API, §2.1. */
export const roles = [
  'admin',
  'cluster_member',
  'cluster_viewer',
  'db_member',
  'db_viewer',
  'user_manager',
  'none',
] as const
export type Role = (typeof roles)[number]

const changers = ['admin', 'cluster_member', 'db_member'] as const
const everyone = [
  'admin',
  'cluster_member',
  'cluster_viewer',
  'db_member',
  'db_viewer',
  'user_manager',
] as const

/** Which roles hold each permission that an operation of ours asks for. An operation cannot name any other. */
export const permissions = {
  create_bdb: changers,
  delete_bdb: changers,
  update_bdb_with_action: changers,
  view_all_bdbs_info: everyone,
  view_bdb_info: everyone,
  view_all_nodes_info: everyone,
  view_cluster_info: everyone,
  view_status_of_cluster_action: everyone,
  view_redis_pass: ['admin', 'cluster_member', 'db_member', 'user_manager'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof permissions

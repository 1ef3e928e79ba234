/** The management roles, from the most to the least powerful. */
export const managements = [
  'admin',
  'cluster_member',
  'cluster_viewer',
  'db_member',
  'db_viewer',
  'user_manager',
  'none',
] as const
/** One of the seven sets of permissions. */
export type Management = (typeof managements)[number]

const matrix = [
  {
    held: ['admin'],
    permissions: [
      'add_cluster_module',
      'cancel_cluster_action',
      'cancel_node_action',
      'config_ocsp',
      'config_sso',
      'delete_cluster_module',
      'manage_cluster_modules',
      'start_cluster_action',
      'start_node_action',
      'test_ocsp_status',
      'update_cluster',
      'update_node',
      'view_ocsp_config',
      'view_ocsp_status',
    ],
  },
  {
    held: ['admin', 'cluster_member', 'db_member'],
    permissions: [
      'create_bdb',
      'create_crdb',
      'delete_bdb',
      'delete_crdb',
      'edit_bdb_module',
      'failover_shard',
      'flush_crdb',
      'migrate_shard',
      'purge_instance',
      'reset_bdb_current_backup_status',
      'reset_bdb_current_export_status',
      'reset_bdb_current_import_status',
      'start_bdb_export',
      'start_bdb_import',
      'start_bdb_recovery',
      'update_bdb',
      'update_bdb_alerts',
      'update_bdb_with_action',
      'update_crdb',
      'upgrade_crdb',
    ],
  },
  {
    held: ['admin', 'user_manager'],
    permissions: [
      'config_ldap',
      'create_ldap_mapping',
      'create_new_user',
      'create_redis_acl',
      'create_role',
      'delete_ldap_mapping',
      'delete_redis_acl',
      'delete_role',
      'delete_user',
      'install_new_license',
      'update_ldap_mapping',
      'update_proxy',
      'update_redis_acl',
      'update_role',
      'update_user',
      'view_all_ldap_mappings_info',
      'view_all_users_info',
      'view_ldap_config',
      'view_ldap_mapping_info',
      'view_user_info',
    ],
  },
  {
    held: ['admin', 'cluster_member', 'cluster_viewer', 'db_member', 'db_viewer', 'user_manager'],
    permissions: [
      'view_all_bdb_stats',
      'view_all_bdbs_alerts',
      'view_all_bdbs_info',
      'view_all_nodes_alerts',
      'view_all_nodes_checks',
      'view_all_nodes_info',
      'view_all_nodes_stats',
      'view_all_proxies_info',
      'view_all_redis_acls_info',
      'view_all_roles_info',
      'view_all_shard_stats',
      'view_bdb_alerts',
      'view_bdb_info',
      'view_bdb_recovery_plan',
      'view_bdb_stats',
      'view_cluster_alerts',
      'view_cluster_info',
      'view_cluster_modules',
      'view_cluster_stats',
      'view_crdb',
      'view_crdb_list',
      'view_crdb_task',
      'view_crdb_task_list',
      'view_endpoint_stats',
      'view_license',
      'view_node_alerts',
      'view_node_check',
      'view_node_info',
      'view_node_stats',
      'view_proxy_info',
      'view_redis_acl_info',
      'view_role_info',
      'view_shard_stats',
      'view_sso',
      'view_status_of_all_node_actions',
      'view_status_of_cluster_action',
      'view_status_of_node_action',
    ],
  },
  {
    held: ['admin', 'cluster_member', 'db_member', 'user_manager'],
    permissions: ['view_debugging_info', 'view_redis_pass'],
  },
  {
    held: ['admin', 'cluster_member', 'cluster_viewer', 'db_member', 'user_manager'],
    permissions: ['view_logged_events'],
  },
  { held: ['admin', 'cluster_member', 'user_manager'], permissions: ['view_cluster_keys'] },
  { held: ['admin', 'cluster_member', 'cluster_viewer'], permissions: ['view_all_metrics'] },
] as const satisfies readonly {
  readonly held: readonly Management[]
  readonly permissions: readonly string[]
}[]

/** A permission; each is in at least one management of the matrix. */
export type Permission = (typeof matrix)[number]['permissions'][number]

/**
 * Managements by permission: the wider API's whole matrix (facts §2.2), also for operations that Fairlead
 * lacks, so that roles mean the same. If its two lists disagree (`view_bdb_recovery_plan`,
 * `view_debugging_info` of user_manager), the list by permission counts.
 */
export const permissions = Object.freeze(
  Object.fromEntries(matrix.flatMap(({ held, permissions: names }) => names.map((name) => [name, held]))),
) as unknown as Readonly<Record<Permission, readonly Management[]>> // each name is a key

/** The permissions of a management, sorted. */
export function permissionsOf(management: Management): readonly Permission[] {
  const all = Object.keys(permissions) as Permission[] // made from the matrix above
  return all.filter((permission) => permissions[permission].includes(management)).toSorted()
}

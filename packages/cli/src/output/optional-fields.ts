/** Fields that objects of the API's lists may lack: `--columns` takes them where no row has them, too. */
export const optionalFields: readonly string[] = [
  ...['action_uid', 'upgradable_to', 'rollback_window', 'former_access'],
  ...['error', 'lanes', 'rollback_eligible', 'rollback_obstacle', 'rollback_reason'],
  ...['address', 'bdb_uid', 'user_uid', 'email', 'last_login'],
  ...['cores', 'free_disk', 'free_memory', 'shard_count', 'shard_list', 'total_memory'],
]

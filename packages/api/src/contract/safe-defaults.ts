/**
 * Defaults of a new database, and of an upgrade by the command line and the console. A request of the
 * specification (POST /v1/bdbs/{uid}/upgrade) without `rollback_window` has none, like the specification.
 */
export const safeDefaults = {
  replication: true,
  data_persistence: 'aof',
  aof_policy: 'appendfsync-every-sec',
  rollback_window: 'until_finalized',
} as const

import { Type } from 'typebox'

/**
 * Codes of waits: `hold_reason`, next to the sentence in `waiting_for`. Printed into
 * docs/reference/hold-reasons.md. Stored events have the codes, so none changes its meaning or is removed;
 * later versions may add some.
 */
export const holdReasons = {
  paused: 'A user has paused it. It continues when a user resumes it',
  supervised:
    'The upgrade is supervised, and its first groups are ready. It continues when a user resumes it',
  until_finalized: 'The old primaries stay as standbys until a user finalizes the upgrade or rolls it back',
  rollback_window:
    'The old primaries stay as standbys until the rollback window ends, or until a user finalizes or rolls back',
  queued: 'Other upgrades go first',
  canary: 'The first group goes first, and has not handed over yet',
  other_groups: 'Other groups of the database are not ready yet, or go first',
  parallel_limit: 'As many shards are being upgraded as `parallel_shards_upgrade` allows',
  node_room: 'The node has too little memory or disk, or has given it to another group',
  preparing: 'The handover is being prepared',
  shard_starting: 'A process is being started',
  shard_silent: 'A shard does not answer yet',
  shard_of_another:
    'The number that a new shard was given belongs to another database: the store is older than the running shards. The new shard gets another number',
  shard_hung: 'A process hangs',
  shard_failing: 'A process does not start',
  shard_stopping: 'A process is being stopped',
  loading: 'A shard loads its data',
  full_sync: 'A shard receives a full sync',
  replication: 'A shard does not follow its primary yet, or is behind',
  saving: 'A shard writes a file that has to be on disk first',
  save_failed: 'A shard cannot write its snapshot',
  clients_busy: 'Clients of the endpoint cannot be held just now. It is tried again',
  clients_refused: 'The shard that is to take over takes no clients of the endpoint',
  clients_reading: 'Clients of the endpoint still read replies of a shard that is to end',
  order_late: 'A shard did not carry out an order in time. The order is repeated',
  memory_size: 'The data would not fit `memory_size` on the target',
  cannot_read: 'The target cannot read the data',
  data_differs: 'A shard skipped commands of its primary, or a restart reset their count',
  diverged: 'Two shards hold writes that the other one lacks. A user has to decide which of them to keep',
  data_missing: 'No shard that may serve holds the data. A user has to decide which data to serve',
  cluster_view: 'The shards of the cluster do not know each other’s state yet',
  cluster_stranger: 'A node in the cluster is no shard of the database',
  trial_failed: 'The target did not pass its trial',
  users: 'A user or its rights cannot be given to the target',
  taken_back: 'A user has asked for it to be rolled back, which is under way',
  trouble: 'Something failed, and is tried again',
} as const

/** `hold_reason` of an action. */
export type HoldReason = keyof typeof holdReasons

/** Schema of `hold_reason` in answers. */
export const HoldReasonOrNull = keyOrNull(
  holdReasons,
  'Why it waits: docs/reference/hold-reasons.md; null when it does not wait',
)

/**
 * Codes of obstacles to a rollback without loss: `rollback_obstacle`, next to the sentence in
 * `rollback_reason`. Printed into docs/reference/hold-reasons.md. Records have the codes, so none changes its
 * meaning or is removed; later versions may add some.
 */
export const rollbackObstacles = {
  ended: 'The upgrade has ended',
  data_discarded: 'The former data was discarded, as requested',
  primary_silent: 'A primary does not answer just now',
  standby_gone: 'A group has no shard on the former build any more',
  standby_unlinked: 'A standby does not follow its primary just now',
  data_differs: 'A standby skipped commands of its primary, or a restart reset their count',
} as const

/** `rollback_obstacle` of an action. */
export type RollbackObstacle = keyof typeof rollbackObstacles

/** Schema of `rollback_obstacle` in answers. */
export const RollbackObstacleOrNull = keyOrNull(
  rollbackObstacles,
  'Of an upgrade: why it cannot be taken back just now: docs/reference/hold-reasons.md; null when it can, and of upgrades that ended before there was this field',
)

/** Schema of a field with a key of `table`, or null. */
function keyOrNull<Key extends string>(table: Readonly<Record<Key, string>>, description: string) {
  // To the compiler, keys of a table are no tuple.
  return Type.Union([Type.Enum(Object.keys(table) as [Key, ...Key[]]), Type.Null()], { description })
}

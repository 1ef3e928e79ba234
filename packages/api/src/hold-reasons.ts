import { Type } from 'typebox'

/**
 * Why an action waits, as a value: `hold_reason` of its answers, beside the sentence in `waiting_for`. Printed into docs/hold-reasons.md.
 * A code is never given another meaning, and none is taken out: events on record hold it. Later versions may have more of them.
 */
export const holdReasons = {
  paused: 'Somebody has paused it. It goes on when somebody resumes it',
  supervised: 'Everything is ready, and the upgrade is supervised. It goes on when somebody resumes it',
  until_finalized: 'The old primaries stay as standbys until somebody finalizes the upgrade or rolls it back',
  rollback_window:
    'The old primaries stay as standbys until the rollback window ends, or somebody finalizes or rolls back',
  queued: 'Other upgrades go first',
  canary: 'The first group goes first, and has not handed over yet',
  other_groups: 'Other groups of the database are not ready yet, or have their turn first',
  parallel_limit: 'As many shards are in hand as `parallel_shards_upgrade` allows',
  node_room: 'The node has too little memory or disk, or has given it to another group',
  preparing: 'The handover is being prepared',
  shard_starting: 'A process is being started',
  shard_silent: 'A shard does not answer yet',
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
  clients_reading: 'Clients of the endpoint still read what a shard answered that is to end',
  order_late: 'A shard did not carry out an order in time. It is told again',
  memory_size: 'The data would not fit `memory_size` on the target',
  cannot_read: 'The target cannot read the data',
  data_differs: 'A shard skipped commands of its primary, or a restart ended the count of them',
  diverged: 'Two shards hold writes that the other one lacks. Somebody has to decide which of them to keep',
  data_missing: 'No shard that may serve holds the data. Somebody has to decide what shall be served',
  cluster_view: 'The shards of the cluster do not know enough of each other yet',
  cluster_stranger: 'A node in the cluster is no shard of the database',
  trial_failed: 'The target did not pass its trial',
  users: 'A user or its rights cannot be given to the target',
  taken_back: 'It is being taken back, as somebody has asked',
  trouble: 'Something failed, and is tried again',
} as const

/** `hold_reason` of an action: a key of the table of reasons. */
export type HoldReason = keyof typeof holdReasons

/** As answers have it. */
export const HoldReasonOrNull = Type.Union(
  // The keys of a table are no tuple to the compiler.
  [Type.Enum(Object.keys(holdReasons) as [HoldReason, ...HoldReason[]]), Type.Null()],
  { description: 'Why it waits: docs/hold-reasons.md; null when it does not wait' },
)

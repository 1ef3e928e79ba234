import { keyOrNull } from './key-or-null.ts'

/**
 * Why an upgrade cannot be taken back without loss, as a value: `rollback_obstacle` of its action, beside the sentence in `rollback_reason`. Printed
 * into docs/reference/hold-reasons.md. A code is never given another meaning, and none is taken out: records hold it. Later versions may have more of them.
 */
export const rollbackObstacles = {
  ended: 'The upgrade has ended',
  data_discarded: 'The former data was discarded, as requested',
  primary_silent: 'A primary does not answer just now',
  standby_gone: 'A group has no shard on the former build any more',
  standby_unlinked: 'A standby does not follow its primary just now',
  data_differs: 'A standby skipped commands of its primary, or a restart reset their count',
} as const

/** `rollback_obstacle` of an action: a key of the table of obstacles. */
export type RollbackObstacle = keyof typeof rollbackObstacles

/** As answers have it. */
export const RollbackObstacleOrNull = keyOrNull(
  rollbackObstacles,
  'Of an upgrade: why it cannot be taken back just now: docs/reference/hold-reasons.md; null when it can, and of upgrades that ended before there was this field',
)

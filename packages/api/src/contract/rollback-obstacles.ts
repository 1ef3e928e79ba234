import { keyOrNull } from './key-or-null.ts'

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

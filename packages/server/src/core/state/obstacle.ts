import type { Obstacle as CodedObstacle, HoldReason } from '@fairlead/api'

/** Why the work on a database does not go on, as its action shows it: the code is its `hold_reason`. Undefined if nothing is in the way. */
export type Obstacle = CodedObstacle<HoldReason>

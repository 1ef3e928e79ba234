import type { Obstacle as CodedObstacle, HoldReason } from '@fairlead/api'

/** Obstacle to the work on a database, as shown by its action: the code is its `hold_reason`. */
export type Obstacle = CodedObstacle<HoldReason>

import type { Obstacle as CodedObstacle, HoldReason } from '@fairlead/api'

/** Why a database is not led on, as its action shows it: the code is its `hold_reason`. Undefined where nothing is in the way. */
export type Obstacle = CodedObstacle<HoldReason>

import {
  type ActionOutcome,
  type ActionPhase,
  ActionState,
  actionOutcomes,
  actionPhases,
  Build,
  type HoldReason,
  HoldReasonOrNull,
  holdReasons,
  RollbackObstacleOrNull,
  Seed,
} from '@fairlead/api'
import { Type } from 'typebox'
import { oneOf } from './stored-column.ts'
import { StoredWaiting } from './stored-lane.ts'

/* JSON columns of several tables. Fields that earlier versions did not write are optional. */

const UsedModule = Type.Object({
  uid: Type.String(),
  name: Type.String(),
  semanticVersion: Type.String(),
  sha256: Type.String(),
  args: Type.Array(Type.String()),
})

/** Modules of a database, a shard or a goal. */
export const StoredModules = Type.Array(UsedModule)

const Runs = Type.Object({ build: Build, restartNonce: Type.Integer(), modules: StoredModules })

const Settings = Type.Object({
  memoryBytes: Type.Integer({ minimum: 0 }),
  evictionPolicy: Type.String(),
  replicas: Type.Integer({ minimum: 0 }),
  persistence: oneOf('disabled', 'aof', 'snapshot'),
  aofFsync: oneOf('everysec', 'always'),
  snapshots: Type.Array(Type.Object({ secs: Type.Integer(), writes: Type.Integer() })),
})

/** A goal. Migrations have added newer fields. */
export const StoredGoal = Type.Object({
  kind: oneOf('keep', 'remove'),
  build: Build,
  restartNonce: Type.Integer(),
  modules: StoredModules,
  from: Type.Union([Runs, Type.Null()]),
  groups: Type.Integer({ minimum: 1 }),
  cluster: Type.Boolean(),
  replicas: Type.Integer({ minimum: 0 }),
  persistence: oneOf('disabled', 'aof', 'snapshot'),
  change: Type.Optional(Type.Object({ to: Settings, from: Settings })),
  homes: Type.Array(Type.Integer()),
  preserveRoles: Type.Boolean(),
  undo: Type.Boolean(),
  discard: Type.Boolean(),
  inPlace: Type.Boolean(),
  policy: Type.Object({
    parallel: Type.Integer({ minimum: 0 }),
    canary: Type.Boolean(),
    supervised: Type.Boolean(),
    rollbackWindow: Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('until-finalized')]),
  }),
  seeds: Type.Optional(Type.Array(Seed)),
})

/** Orders of people to an action. */
export const StoredOrders = Type.Object({
  paused: Type.Boolean(),
  proceed: Type.Boolean(),
  finalize: Type.Boolean(),
})

/** Steps to come. */
export const StoredPending = Type.Array(
  Type.Object({ shard: Type.String(), kind: Type.String(), why: Type.String() }),
)

/** `keys` and `heldMs` were added later. */
export const StoredCertificate = Type.Object({
  from: Type.Integer(),
  to: Type.Integer(),
  replid: Type.String(),
  offsetFrom: Type.Union([Type.Number(), Type.Null()]),
  offsetTo: Type.Union([Type.Number(), Type.Null()]),
  keys: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  writeStopMs: Type.Union([Type.Number(), Type.Null()]),
  heldMs: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  group: Type.Optional(Type.Integer()),
  parts: Type.Optional(
    Type.Object({
      hold: Type.Number(),
      pause: Type.Number(),
      equal: Type.Number(),
      promote: Type.Number(),
      release: Type.Number(),
    }),
  ),
  waited: Type.Optional(
    Type.Object({ clients: Type.Number(), requests: Type.Number(), longestMs: Type.Number() }),
  ),
  began: Type.Optional(Type.Object({ holdAt: Type.Number(), moveAfterMs: Type.Number() })),
  recovered: Type.Boolean(),
  fullSyncs: Type.Union([Type.Number(), Type.Null()]),
  at: Type.String(),
})

/** Changed fields of an action. */
export const StoredChange = Type.Partial(
  Type.Object({
    status: oneOf('queued', 'running', 'done', 'failed'),
    progress: Type.Number(),
    step: ActionState,
    holdReason: HoldReasonOrNull,
    waitingFor: Type.String(),
    needsPerson: Type.Boolean(),
    error: Type.Union([Type.String(), Type.Null()]),
    phase: Type.Enum(Object.keys(actionPhases) as [ActionPhase]),
    waiting: Type.Union([StoredWaiting, Type.Null()]),
    outcome: Type.Union([Type.Enum(Object.keys(actionOutcomes) as [ActionOutcome]), Type.Null()]),
    beganAt: Type.Union([Type.String(), Type.Null()]),
    endedAt: Type.Union([Type.String(), Type.Null()]),
    windowEnds: Type.Union([Type.String(), Type.Null()]),
    undo: Type.Boolean(),
    paused: Type.Boolean(),
    eligible: Type.Boolean(),
    rollbackObstacle: RollbackObstacleOrNull,
    reason: Type.String(),
    warnings: Type.String(),
  }),
)

/** Eligibility of an upgrade for rollback. Earlier versions wrote no obstacle. */
export const StoredWayBack = Type.Object({
  eligible: Type.Boolean(),
  obstacle: Type.Optional(RollbackObstacleOrNull),
  reason: Type.String(),
})

/** Possible reasons for a wait. The compiler does not know the keys of a table. */
export const storedHoldReasons = Object.keys(holdReasons) as HoldReason[]

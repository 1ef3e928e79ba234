import { type Static, Type } from 'typebox'
import { ActionState } from '../contract/action-state.ts'
import { type ActionKind, actionKinds } from '../contract/action-words.ts'
import { closed } from '../contract/closed.ts'
import { selectQuery } from '../contract/fields-query.ts'
import { HoldReasonOrNull, RollbackObstacleOrNull } from '../contract/hold-reasons.ts'
import { operation, StreamQuery } from '../contract/operation.ts'
import { cursorQuery, searchQuery, sortQuery } from '../contract/page.ts'
import { ActionLane, LanePatch, Phase } from './action-lanes.ts'
import { OrderPreviews, Outcome, RequestOnRecord, Runs, standing } from './action-standing.ts'
import { Certificate } from './certificate.ts'
import { DatabaseUid } from './databases.ts'

const PendingOp = Type.Object({
  op_name: Type.String(),
  status_code: Type.Enum(['due', 'waiting', 'planned']),
  status_description: Type.String({ description: 'Why this step' }),
  heartbeat: Type.Optional(
    Type.Integer({ description: 'Of the present step: when its action last changed, in unix seconds' }),
  ),
  progress: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Of a planned step: 0. Not known for a step that is being carried out',
    }),
  ),
})
const PendingOps = Type.Record(Type.String(), PendingOp, {
  description: 'By uid of the shard; new: a shard that does not exist yet',
})

/** Identifies an action, in paths. */
export const ActionUid = Type.String({ minLength: 1, maxLength: 64 })
// Keys of the table of words.
const ActionName = Type.Enum(Object.keys(actionKinds) as [ActionKind, ...ActionKind[]])
const Status = Type.Enum(['pending', 'active', 'completed', 'failed'])
const StatusV2 = Type.Enum(['queued', 'running', 'completed', 'failed'])
const Progress = Type.Number({
  minimum: 0,
  maximum: 100,
  description: 'By steps. Never falls, and is 100 when it has ended, whatever the outcome',
})
const WaitingFor = Type.String({
  description: 'What it waits for and why, for people; empty when it does not wait',
})
const NeedsPerson = Type.Boolean({
  description: 'True while only a person can remove the obstacle',
})

const Paused = Type.Boolean({
  description: 'A user has paused it: nothing new begins until it is resumed',
})
const RollbackEligible = Type.Boolean({
  description: 'Of an upgrade: can it be taken back without loss, right now? Watched while it runs',
})
const RollbackReason = Type.String({ description: 'Why it can, or the obstacle, for people' })
const Warnings = Type.Array(Type.String(), {
  description:
    'Other things that people must know: losses that no handover caused, settings that were not carried over',
})

/** A long operation: its work, progress, wait with reason, and proofs. */
export const Action = Type.Object({
  action_uid: Type.String(),
  name: ActionName,
  status: Status,
  progress: Progress,
  object_name: Type.String(),
  state: ActionState,
  hold_reason: HoldReasonOrNull,
  waiting_for: WaitingFor,
  needs_person: NeedsPerson,
  pending_ops: PendingOps,
  certificates: Type.Array(Certificate),
  warnings: Warnings,
  paused: Paused,
  rollback_eligible: Type.Optional(RollbackEligible),
  rollback_obstacle: Type.Optional(RollbackObstacleOrNull),
  rollback_reason: Type.Optional(RollbackReason),
  error: Type.Optional(Type.String()),
  ...standing,
  bdb_uid: Type.Union([Type.Integer(), Type.Null()], { description: 'Of the database; null of a module' }),
  from: Type.Union([Runs, Type.Null()], {
    description: 'What the database ran before; null when it is created',
  }),
  goal: Type.Union([Runs, Type.Null()], {
    description:
      'What it is to run; null when it is deleted, and of a module. While it is taken back, still what was asked for',
  }),
  request: Type.Union([RequestOnRecord, Type.Null()], {
    description:
      'Of an upgrade: what was asked for, without arguments of modules; null of one that began before there was this field',
  }),
  requested_by: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the user that asked for it; null of one that began before there was this field',
  }),
  orders: OrderPreviews,
  lanes: Type.Optional(
    Type.Array(ActionLane, {
      description: 'One for each group. Absent in lists, and of actions without groups',
    }),
  ),
  heartbeat: Type.Integer({ description: 'When it last changed, in unix seconds' }),
  creation_time: Type.String(),
  last_changed_time: Type.String(),
})
export type Action = Static<typeof Action>

/** The same action in the wider API's second form. */
export const ActionV2 = Type.Object({
  action_uid: Type.String(),
  action_type: Type.Literal('state-machine'),
  name: ActionName,
  status: StatusV2,
  progress: Progress,
  creation_time: Type.Integer({ description: 'Unix seconds' }),
  additional_info: Type.Object({
    object_type: Type.Enum(['bdb', 'module']),
    object_uid: Type.String(),
    pending_ops: PendingOps,
    error: Type.Optional(Type.String()),
    hold_reason: HoldReasonOrNull,
    description: Type.String({
      description: 'What it waits for and why, or the reason of the present step; empty when it has ended',
    }),
  }),
})
export type ActionV2 = Static<typeof ActionV2>

/** A visible change. Events of type `action`, applied in order, make up the action. */
export const ActionEvent = Type.Union([
  Type.Object(
    {
      seq: Type.Integer({ description: 'Rises over all actions' }),
      type: Type.Literal('action'),
      time: Type.String(),
      status: Type.Optional(Status),
      progress: Type.Optional(Progress),
      state: Type.Optional(ActionState),
      hold_reason: Type.Optional(HoldReasonOrNull),
      waiting_for: Type.Optional(WaitingFor),
      needs_person: Type.Optional(NeedsPerson),
      error: Type.Optional(Type.String()),
      undo: Type.Optional(
        Type.Boolean({ description: 'From now on it undoes what it began, and will end as failed' }),
      ),
      paused: Type.Optional(Paused),
      rollback_eligible: Type.Optional(RollbackEligible),
      rollback_obstacle: Type.Optional(RollbackObstacleOrNull),
      rollback_reason: Type.Optional(RollbackReason),
      warnings: Type.Optional(Warnings),
      ...Type.Partial(Type.Object(standing)).properties,
    },
    { description: 'The fields that changed' },
  ),
  Type.Object(
    {
      seq: Type.Integer(),
      type: Type.Literal('lanes'),
      time: Type.String(),
      lanes: Type.Array(LanePatch),
    },
    { description: 'What changed of the lanes. Applied in order, these make up the lanes of the action' },
  ),
  Type.Object(
    {
      seq: Type.Integer(),
      type: Type.Literal('handover'),
      time: Type.String(),
      certificate: Certificate,
    },
    { description: 'When the primary role has moved, and again when the full syncs it caused are counted' },
  ),
])
export type ActionEvent = Static<typeof ActionEvent>

/** Our addition: there may be thousands of actions. */
const listed = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 200, description: 'At most so many' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100_000, default: 0, description: 'Leave out the first so many' }),
  ),
  ...cursorQuery,
  ...selectQuery,
  phase: Type.Optional(Type.Enum([...Phase.enum])),
  outcome: Type.Optional(Type.Enum([...Outcome.anyOf[0].enum])),
  ...sortQuery(['created_time', 'last_changed_time']),
}
/** For lists over all databases. */
const about = {
  bdb_uid: Type.Optional(Type.Integer({ ...DatabaseUid, description: 'Only those of this database' })),
  ...searchQuery(
    'Only those of databases that exist and whose name contains this, whatever its case; or of the database with this uid',
  ),
}
const ListQuery = closed({ status: Type.Optional(Status), ...listed, ...about })
const ListQueryV2 = closed({ status: Type.Optional(StatusV2), ...listed, ...about })

/** GET /v1/actions: a page of all actions, the newest first, under `state-machines` like the wider API. */
export const listActions = operation({
  method: 'GET',
  path: '/v1/actions',
  summary: 'List the actions, the newest first unless `sort` is given',
  permission: 'view_status_of_cluster_action',
  query: ListQuery,
  selects: 'state-machines',
  paged: true,
  tagged: true,
  ok: Type.Object({
    actions: Type.Array(Type.Never(), { description: 'Tasks of the wider API: there are none here' }),
    'state-machines': Type.Array(Action),
  }),
})

/** GET /v1/actions/:uid: one action in its first form; refuses with `action_not_exist`. */
export const getAction = operation({
  method: 'GET',
  path: '/v1/actions/:uid',
  summary: 'Show an action: progress, what it waits for, certificates',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({ uid: ActionUid }),
  ok: Action,
  errors: ['action_not_exist'],
})

/** GET /v1/actions/bdb/:uid: like `listActions`, for one database; refuses with `db_not_exist`. */
export const listDatabaseActions = operation({
  method: 'GET',
  path: '/v1/actions/bdb/:uid',
  summary: 'List the actions of a database, the newest first unless `sort` is given',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed({ status: Type.Optional(Status), ...listed }),
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(Action),
  errors: ['db_not_exist'],
})

/** GET /v2/actions: a page of all actions in the second form, the newest first. */
export const listActionsV2 = operation({
  method: 'GET',
  path: '/v2/actions',
  summary: 'List the actions in their second form, the newest first unless `sort` is given',
  permission: 'view_status_of_cluster_action',
  query: ListQueryV2,
  selects: true,
  paged: true,
  tagged: true,
  ok: Type.Array(ActionV2),
})

/** GET /v2/actions/:uid: one action in the second form; refuses with `action_not_exist`. */
export const getActionV2 = operation({
  method: 'GET',
  path: '/v2/actions/:uid',
  summary: 'Show an action in its second form',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({ uid: ActionUid }),
  ok: ActionV2,
  errors: ['action_not_exist'],
})

/**
 * GET /v1/actions/:uid/events: streams the events of an action until its end, from the `seq` in the query.
 */
export const followAction = operation({
  method: 'GET',
  path: '/v1/actions/:uid/events',
  summary: 'Follow an action live, from its beginning or from the last received event, to its end',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({ uid: ActionUid }),
  query: StreamQuery,
  stream: true,
  ok: ActionEvent,
  errors: ['action_not_exist'],
})

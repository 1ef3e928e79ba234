import { type Static, Type } from 'typebox'
import { operation } from './operation.ts'

/** What a lossless move of the primary role left behind as proof. Offsets are bytes of the replication stream. */
export const Certificate = Type.Object({
  from: Type.String({ description: 'Shard that was primary' }),
  to: Type.String({ description: 'Shard that is primary now' }),
  replid: Type.String({ description: 'Replication id both shared when the writes stood still' }),
  offset_from: Type.Integer({ description: 'Frozen offset of the demoted shard' }),
  offset_to: Type.Integer({ description: 'Offset of the promoted shard; equal to offset_from' }),
  write_stop_ms: Type.Number({ description: 'From the pause to the promotion' }),
  recovered: Type.Boolean({
    description: 'Put together after a crash of the control plane: write_stop_ms is then an upper bound',
  }),
  full_syncs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Full syncs that the handover caused; null until every follower is linked again',
  }),
  at: Type.String(),
})
export type Certificate = Static<typeof Certificate>

const PendingOp = Type.Object({
  op_name: Type.String(),
  status_code: Type.Enum(['due', 'waiting', 'planned']),
  status_description: Type.String({ description: 'Why this step' }),
})

/** A long operation: what it does, how far it is, what it waits for and why, and what it proved. */
export const Action = Type.Object({
  action_uid: Type.String(),
  name: Type.Enum(['SMCreateBDB', 'SMUpgradeBDB', 'SMDeleteBDB']),
  status: Type.Enum(['pending', 'active', 'completed', 'failed']),
  progress: Type.Number({ minimum: 0, maximum: 100 }),
  object_name: Type.String(),
  state: Type.String({ description: 'The step in hand' }),
  waiting_for: Type.String({ description: 'What it waits for and why; empty when it does not wait' }),
  needs_person: Type.Boolean({ description: 'True while only a person can resolve what stands in the way' }),
  pending_ops: Type.Record(Type.String(), PendingOp),
  certificates: Type.Array(Certificate),
  error: Type.Optional(Type.String()),
  creation_time: Type.String(),
  last_changed_time: Type.String(),
})
export type Action = Static<typeof Action>

export const getAction = operation({
  method: 'GET',
  path: '/v1/actions/:uid',
  summary: 'Show an action: progress, what it waits for, certificates',
  since: '0.1.0',
  permission: 'view_status_of_cluster_action',
  params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 64 }) }),
  ok: Action,
  errors: ['action_not_exist'],
})

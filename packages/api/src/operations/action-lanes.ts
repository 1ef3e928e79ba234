import { type Static, Type } from 'typebox'
import {
  type ActionPhase,
  actionPhases,
  type ShardDuty,
  type StepName,
  shardDuties,
  stepWords,
  type WaitsOn,
  waitsOn,
} from '../contract/action-words.ts'
import { HoldReasonOrNull } from '../contract/hold-reasons.ts'

/** The keys of a table of words. */
function codes<Code extends string>(table: Readonly<Record<Code, unknown>>) {
  // To the compiler, keys of a table are no tuple.
  return Type.Enum(Object.keys(table) as [Code, ...Code[]])
}

/** Exactly one at any time: docs/reference/actions.md. */
export const Phase = codes<ActionPhase>(actionPhases)

const Time = Type.String({ description: 'ISO 8601, UTC' })
const TimeOrNull = Type.Union([Time, Type.Null()])
const ShardOrNull = Type.Union([Type.String(), Type.Null()], { description: 'Uid of a shard' })

/** The current wait. */
export const Waiting = Type.Object({
  on: codes<WaitsOn>(waitsOn),
  hold_reason: HoldReasonOrNull,
  shard: ShardOrNull,
  since: Time,
  until: Type.Union([Time, Type.Null()], {
    description: 'When it goes on by itself at the latest; null: not known',
  }),
  why: Type.String({ description: 'For people' }),
})
export type Waiting = Static<typeof Waiting>

/** A step of a lane: done, running, or to come. */
export const LaneStep = Type.Object({
  op_name: codes<StepName>(stepWords),
  label: Type.String({ description: 'The same in words: docs/reference/actions.md' }),
  shard: Type.Union([Type.String(), Type.Null()], {
    description:
      'Uid of the shard; of a handover, of the one that takes the role. "new-1", "new-2", …: shards of this group that are not there yet. Null: no single shard',
  }),
  from: Type.Union([Type.String(), Type.Null()], {
    description: 'Of a handover: the shard that gives the role',
  }),
  role: Type.Union([codes<ShardDuty>(shardDuties), Type.Null()], {
    description: 'What the shard was to its group when the step began; null of no single shard',
  }),
  state: Type.Enum(['done', 'running', 'planned', 'left', 'failed'], {
    description:
      '`left`: it was not finished, because something else had to be done first. `failed`: it, or what came of it, showed that the upgrade cannot succeed',
  }),
  began: TimeOrNull,
  ended: TimeOrNull,
  why: Type.String(),
})
export type LaneStep = Static<typeof LaneStep>

/** A full sync that a shard receives, in bytes. */
const Sync = Type.Object({
  shard: Type.String(),
  done: Type.Integer(),
  total: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null: the engine does not know it, because its primary sends the data as it reads them',
  }),
  bytes_per_s: Type.Union([Type.Integer(), Type.Null()]),
})

/** One group with its past, present and future steps. */
export const ActionLane = Type.Object({
  group: Type.Integer(),
  state: Type.Enum(['running', 'waiting', 'stuck', 'done'], {
    description: '`running`: something is being done in this group',
  }),
  handed_over: Type.Boolean({ description: 'Its primary runs the goal' }),
  waiting: Type.Union([Waiting, Type.Null()], {
    description: 'Null unless its state is `waiting` or `stuck`',
  }),
  steps: Type.Array(LaneStep, {
    description: 'In their order: those done, the one that runs, those to come',
  }),
  steps_left_out: Type.Integer({ description: 'The oldest steps that are not listed any more' }),
  sync: Type.Union([Sync, Type.Null()]),
  lag_bytes: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'How far the furthest follower is behind its primary; null: not known. Looked at every few seconds',
  }),
})
export type ActionLane = Static<typeof ActionLane>

/** Changed fields of a lane. Patches applied in order give the lane. */
export const LanePatch = Type.Object({
  group: Type.Integer(),
  ...Type.Partial(
    Type.Pick(ActionLane, ['state', 'handed_over', 'waiting', 'steps_left_out', 'sync', 'lag_bytes']),
  ).properties,
  steps: Type.Optional(
    Type.Record(Type.String(), LaneStep, {
      description: 'Steps that changed, by their place in the list, from 0',
    }),
  ),
  steps_count: Type.Optional(Type.Integer({ description: 'How many steps the list has now' })),
})
export type LanePatch = Static<typeof LanePatch>

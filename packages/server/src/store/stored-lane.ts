import {
  type HoldReason,
  holdReasons,
  type ShardDuty,
  type StepName,
  shardDuties,
  stepWords,
  type WaitsOn,
  waitsOn,
} from '@fairlead/api'
import { Type } from 'typebox'
import { oneOf } from './stored-column.ts'

/* Columns for the lanes of an action. */

function wordOf<Word extends string>(table: Readonly<Record<Word, unknown>>) {
  // To the compiler, keys of a table are no tuple.
  return Type.Enum(Object.keys(table) as [Word, ...Word[]])
}

const orNull = <Schema extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Number>>(
  schema: Schema,
) => Type.Union([schema, Type.Null()])

/** The current wait. */
export const StoredWaiting = Type.Object({
  shard: orNull(Type.Number()),
  until: orNull(Type.String()),
  stuck: Type.Boolean(),
  on: wordOf<WaitsOn>(waitsOn),
  code: wordOf<HoldReason>(holdReasons),
  why: Type.String(),
  since: Type.String(),
})

// Steps only have the planner's current kinds, also in records of earlier versions.
type Kind = Exclude<StepName, 'record-wish'>
const { 'record-wish': _, ...kinds } = stepWords

const step = {
  kind: wordOf<Kind>(kinds),
  shard: orNull(Type.String()),
  from: orNull(Type.String()),
  role: Type.Union([wordOf<ShardDuty>(shardDuties), Type.Null()]),
  why: Type.String(),
}
const StepToCome = Type.Object(step)
const TakenStep = Type.Object({
  ...step,
  state: oneOf('running', 'done', 'left', 'failed'),
  began: Type.String(),
  ended: orNull(Type.String()),
})

const fields = {
  state: oneOf('running', 'waiting', 'stuck', 'done'),
  handedOver: Type.Boolean(),
  waiting: Type.Union([StoredWaiting, Type.Null()]),
  leftOut: Type.Integer(),
  sync: Type.Union([
    Type.Object({
      shard: Type.Integer(),
      done: Type.Number(),
      total: orNull(Type.Number()),
      bytesPerSecond: orNull(Type.Number()),
      at: Type.String(),
    }),
    Type.Null(),
  ]),
  lagBytes: orNull(Type.Number()),
} as const

/** A lane of an action. */
export const StoredLane = Type.Object({
  group: Type.Integer(),
  ...fields,
  steps: Type.Array(TakenStep),
  toCome: Type.Array(StepToCome),
})

/** Changed fields of lanes in an event. */
export const StoredLanePatches = Type.Array(
  Type.Object({
    group: Type.Integer(),
    ...Type.Partial(Type.Object(fields)).properties,
    steps: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([TakenStep, Type.Object({ ...step, state: Type.Literal('planned') })]),
      ),
    ),
    stepsCount: Type.Optional(Type.Integer()),
  }),
)

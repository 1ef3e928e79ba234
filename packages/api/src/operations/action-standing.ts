import { type Static, Type } from 'typebox'
import { actionOutcomes, actionPhases } from '../contract/action-words.ts'
import { Phase, Waiting } from './action-lanes.ts'
import { DatabaseModule } from './databases.ts'
import { DatabaseUpgradeRequest, ModuleEntry } from './upgrade-database.ts'

const Time = Type.String({ description: 'ISO 8601, UTC' })
const TimeOrNull = Type.Union([Time, Type.Null()])

/** The former build of a database, or its goal. */
export const Runs = Type.Object({
  engine: Type.String(),
  engine_version: Type.String(),
  modules: Type.Array(Type.Pick(DatabaseModule, ['module_name', 'semantic_version'])),
})

/** The request's body without arguments of modules, which may be secret. */
export const RequestOnRecord = Type.Object({
  ...DatabaseUpgradeRequest.properties,
  modules: Type.Optional(Type.Array(Type.Omit(ModuleEntry, ['new_module_args']))),
})

/** How it ended: docs/reference/actions.md; null while it runs. */
export const Outcome = Type.Union([
  Type.Enum(Object.keys(actionOutcomes) as ['completed', 'rolled_back', 'cancelled', 'failed']),
  Type.Null(),
])

/** Our own changing fields of an action. */
export const standing = {
  phase: Phase,
  outcome: Type.Union(Outcome.anyOf, { description: 'How it ended; null while it runs' }),
  began_time: Type.Union(TimeOrNull.anyOf, { description: 'When it left the queue' }),
  ended_time: TimeOrNull,
  window_ends: Type.Union(TimeOrNull.anyOf, {
    description:
      'When the old primaries are given up; null before the last handover, without a window, and while the window ends only with `finalize`',
  }),
  waiting: Type.Union([Waiting, Type.Null()], {
    description: 'What it waits for while nothing is being done; null while something is',
  }),
} as const

/** The admissibility of an order for this user now, and its effect. */
export const OrderPreview = Type.Object({
  ok: Type.Boolean({ description: 'The order would be accepted' }),
  error_code: Type.Union([Type.String(), Type.Null()], { description: 'With which it would be refused' }),
  why: Type.String({ description: 'Why it would be refused, for people; empty when it would not' }),
  consequence: Type.String({ description: 'What then happens, for people; empty when it would be refused' }),
  leads_to: Type.Union([Type.Enum(Object.keys(actionPhases) as [keyof typeof actionPhases]), Type.Null()], {
    description: 'The phase right after the order; of a retry of a failed upgrade, that of the new action',
  }),
  outcome: Type.Union(Outcome.anyOf, {
    description:
      'How it would end, if nothing fails and no other order comes; null: it would not end by itself',
  }),
})
export type OrderPreview = Static<typeof OrderPreview>

/** All orders, for this user's permissions. */
export const OrderPreviews = Type.Object({
  pause: OrderPreview,
  resume: OrderPreview,
  cancel: OrderPreview,
  rollback: OrderPreview,
  finalize: OrderPreview,
  redo: OrderPreview,
  retry: OrderPreview,
})

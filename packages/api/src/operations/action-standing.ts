import { Type } from 'typebox'
import { Phase, Waiting } from './action-lanes.ts'
import { Outcome } from './action-orders.ts'
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

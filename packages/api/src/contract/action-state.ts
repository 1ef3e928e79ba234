import { type Static, Type } from 'typebox'

/**
 * The kind of the present step, or the state without one; empty before the first turn and after the end.
 * Stored events have these words, so none is removed.
 */
export const ActionState = Type.Enum(
  [
    ...(['', 'wait', 'hold', 'stuck', 'hopeless', 'done'] as const),
    ...(['add-shard', 'start-shard', 'restart-shard', 'restart-primary', 'retire-shard'] as const),
    ...(['end-process', 'follow', 'promote', 'take-back', 'fence', 'enable-aof', 'save-snapshot'] as const),
    ...(['hand-over', 'release-handover', 'seal-handover', 'record-primary', 'record-follows'] as const),
    ...(['meet', 'assign-slots', 'forget-node'] as const),
    // The former name of record-follows, in stored events.
    'record-wish' as const,
  ],
  {
    description:
      'The present step; `wait`, `hold`, `stuck` or `hopeless` while there is none: hold_reason says why. `done` when the goal is reached; empty before the first look and after the end',
  },
)
export type ActionState = Static<typeof ActionState>

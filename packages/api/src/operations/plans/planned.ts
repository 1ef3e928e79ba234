import { Type } from 'typebox'

/** The time during which a group could go back without loss. */
export const PlannedWayBack = Type.Object(
  {
    until: Type.Enum(['never', 'handover', 'time', 'finalized'], {
      description:
        'never: not after its handover. handover: until the last group has handed over. time: for `seconds` after that. finalized: until a user finalizes. Before its handover a group can always go back',
    }),
    seconds: Type.Union([Type.Integer(), Type.Null()]),
    loss: Type.Union([Type.Literal('none'), Type.Null()], {
      description: 'none: what was written after the handover is kept. null: there is no way back',
    }),
    why: Type.String(),
  },
  { description: 'How long it could be taken back without loss' },
)

/** The duration of a plan. */
export const PlannedDuration = Type.Object(
  {
    ms: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The sum of its parts; null: one of them is not known, or there is nothing to do',
    }),
    parts: Type.Array(
      Type.Object({
        part: Type.Enum(['start', 'restart', 'copy', 'load', 'handover']),
        count: Type.Integer(),
        bytes: Type.Union([Type.Integer(), Type.Null()]),
        ms: Type.Union([Type.Integer(), Type.Null()], { description: 'null: not known' }),
        based_on: Type.Union([Type.Literal('trial'), Type.Literal('measurements'), Type.Null()], {
          description:
            'trial: the start of the target just now. measurements: of Fairlead, on another machine: 100 MB a second for a full sync or for loading from disk, and write_stop_ms. null: not known',
        }),
      }),
    ),
    not_counted: Type.Array(Type.String(), { description: 'What comes on top' }),
  },
  {
    description:
      'A prediction, as if one thing were done after the other. Groups that go on at once take less',
  },
)

/** The smallest number of processes with the data. */
export const RedundancyMin = Type.Integer({
  description: 'The smallest number of processes that hold the data at any time of it; 0: only the disk does',
})

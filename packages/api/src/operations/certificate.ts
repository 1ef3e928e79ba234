import { type Static, Type } from 'typebox'

/** Proof of a lossless handover. Offsets are bytes of the replication stream. */
export const Certificate = Type.Object({
  from: Type.String({ description: 'Shard that was primary' }),
  to: Type.String({ description: 'Shard that is primary now' }),
  replid: Type.String({ description: 'Replication id both shared while the writes were stopped' }),
  offset_from: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Frozen offset of the demoted shard; null if a crash came before it was on record, and the engines do not know it any more',
  }),
  offset_to: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Where the history of the promoted shard branched off, as that shard reports it. If it is lower than offset_from, the difference is lost. Null if a crash came before it was on record, and the process of that shard has been replaced since',
  }),
  keys: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Keys that both held at that point, over all databases; null where a crash made counting impossible',
  }),
  write_stop_ms: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Write stop, from the pause of the old primary to the promotion of the new one: no shard of the group took writes. It is the sum of the phases pause, equal and promote. By the agent’s clock, in cluster mode by the server’s; null if it was reconstructed after a crash, and the clock was set back meanwhile',
  }),
  held_ms: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Hold: how long the endpoint kept back requests, from before the pause until they went on to the new primary, by the proxy’s clock, so never less than write_stop_ms; null without an endpoint, and if control plane or proxy died during the handover',
  }),
  group: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null in records that are older than this field',
  }),
  phases: Type.Union(
    [
      Type.Object({
        hold: Type.Number({
          description:
            'Until all that held clients had asked was answered, and the move could begin; 0 without an endpoint',
        }),
        pause: Type.Number({ description: 'Until the old primary took no more writes' }),
        equal: Type.Number({ description: 'Until every follower had everything' }),
        promote: Type.Number({ description: 'Until the new primary served' }),
        release: Type.Number({
          description: 'Until clients of the endpoint were served by it; 0 without an endpoint',
        }),
      }),
      Type.Null(),
    ],
    {
      description:
        'Milliseconds of each part, one after the other, together the whole handover; null where a crash interrupted it, and in older records',
    },
  ),
  clients_held: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Clients of the endpoint that waited for an answer meanwhile; null as held_ms is',
  }),
  requests_held: Type.Union([Type.Integer(), Type.Null()], { description: 'Requests of theirs that waited' }),
  longest_wait_ms: Type.Union([Type.Number(), Type.Null()], {
    description: 'Longest wait of a client, from its request until its answer began; 0: none had to wait',
  }),
  recovered: Type.Boolean({
    description: 'Reconstructed after a crash of the control plane: write_stop_ms is then an upper bound',
  }),
  full_syncs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Full syncs that the handover caused; null until every follower is linked again',
  }),
  at: Type.String(),
})
export type Certificate = Static<typeof Certificate>

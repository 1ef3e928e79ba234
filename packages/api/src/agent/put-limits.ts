import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** Limits at the start of an engine process. */
export const ShardLimits = Type.Object(
  {
    /** `maxmemory`; 0 is unlimited. */
    memoryBytes: Type.Integer({ minimum: 0 }),
    evictionPolicy: Type.String(),
  },
  { additionalProperties: false },
)

/** A shard in a path of the agent. */
export const ShardId = Type.Object({ id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }) })

/** Server → agent. Stored for the next start. */
export const putLimits = operation({
  method: 'PUT',
  path: '/agent/shards/:id/limits',
  summary:
    'Start the next process of this shard with these limits. No running process is changed. No error if the shard does not exist, or is being removed',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: ShardId,
  body: ShardLimits,
  ok: Type.Object({ id: Type.String() }),
  errors: [],
})

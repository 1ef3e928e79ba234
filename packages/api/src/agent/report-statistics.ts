import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** What the process of a shard has, and how much it did each second since the look before, some ten seconds ago. Sizes are in bytes. */
export const ShardStatistics = Type.Object({
  id: Type.String(),
  role: Type.Enum(['primary', 'replica']),
  connections: Type.Number(),
  blocked: Type.Number(),
  keys: Type.Number(),
  expires: Type.Number(),
  usedMemory: Type.Number(),
  residentMemory: Type.Number(),
  /** Lag in bytes of the slowest replica of a primary. */
  lagBytes: Type.Number(),
  /** From here on, per second. Of a shard in which nothing happens, what Fairlead itself asks is not counted. */
  commands: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  hits: Type.Number(),
  misses: Type.Number(),
  expired: Type.Number(),
  evicted: Type.Number(),
  /** Processor time: 1 is one core. */
  cpuUser: Type.Number(),
  cpuSystem: Type.Number(),
})
export type ShardStatistics = Static<typeof ShardStatistics>

/** What has changed since. */
export const StatisticsReport = Type.Object({
  /** Another one: the agent was started again, and counts anew. */
  boot: Type.String(),
  /** What to ask after next time. */
  seq: Type.Integer(),
  /** Processor time of the machine since it booted, in ticks of all cores. */
  ticks: Type.Object({ user: Type.Number(), system: Type.Number(), idle: Type.Number() }),
  memoryTotalBytes: Type.Number(),
  memoryFreeBytes: Type.Number(),
  diskFreeBytes: Type.Number(),
  shards: Type.Array(ShardStatistics),
  gone: Type.Array(Type.String()),
  /** All shards whose engine does not answer now. Absent from an agent older than this field. */
  down: Type.Optional(Type.Array(Type.String())),
})
export type StatisticsReport = Static<typeof StatisticsReport>

/**
 * Server → agent. A shard in which nothing happens is told once. The agent asks engines for their counters every ten seconds at most,
 * within looks that it takes anyway.
 */
export const reportStatistics = operation({
  method: 'POST',
  path: '/agent/statistics',
  summary: 'Report the shards that have worked after those that were told with this number',
  since: '0.1.0',
  permission: null,
  body: Type.Object(
    {
      /** Of the last answer; another one than the agent's, or none: every shard is told. */
      boot: Type.String(),
      after: Type.Integer({ minimum: 0 }),
    },
    { additionalProperties: false },
  ),
  ok: StatisticsReport,
  errors: [],
})

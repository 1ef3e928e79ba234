import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'

/** State of a shard's process, and its rates since the last look some ten seconds ago. Sizes in bytes. */
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
  /** From here on per second. For an idle shard, Fairlead's own commands are not counted. */
  commands: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  hits: Type.Number(),
  misses: Type.Number(),
  expired: Type.Number(),
  evicted: Type.Number(),
  /** CPU time: 1 is one core. */
  cpuUser: Type.Number(),
  cpuSystem: Type.Number(),
  /** Commands that only read keys, and those that write; in scripts, too. Absent from older agents. */
  reads: Type.Optional(Type.Number()),
  writes: Type.Optional(Type.Number()),
  /** Requests that a user was not permitted. Absent from engines that do not count them. */
  denied: Type.Optional(Type.Number()),
})
export type ShardStatistics = Static<typeof ShardStatistics>

/** Changes since the last report. */
export const StatisticsReport = Type.Object({
  /** A new value: the agent restarted, and counts from zero. */
  boot: Type.String(),
  /** Pass it as `after` next time. */
  seq: Type.Integer(),
  /** CPU time of the machine since boot, in ticks of all cores. */
  ticks: Type.Object({ user: Type.Number(), system: Type.Number(), idle: Type.Number() }),
  memoryTotalBytes: Type.Number(),
  memoryFreeBytes: Type.Number(),
  diskFreeBytes: Type.Number(),
  shards: Type.Array(ShardStatistics),
  gone: Type.Array(Type.String()),
  /** All shards whose engine does not answer now. Absent from older agents. */
  down: Type.Optional(Type.Array(Type.String())),
})
export type StatisticsReport = Static<typeof StatisticsReport>

/**
 * Server → agent. Reports an idle shard once. The agent reads engines' counters at most every ten seconds, in
 * other looks.
 */
export const reportStatistics = socketOperation({
  method: 'POST',
  path: '/agent/statistics',
  summary: 'Report the shards that have worked after those that were told with this number',
  body: closed({
    /** From the last answer. If it differs from the agent's, every shard is reported. */
    boot: Type.String(),
    after: Type.Integer({ minimum: 0 }),
  }),
  ok: StatisticsReport,
})

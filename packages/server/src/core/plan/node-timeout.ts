import { NODE_TIMEOUTS_MS } from '../state/node-timeouts.ts'
import { isLive, type LiveShard, type ObservedDatabase } from '../state/topology.ts'

/**
 * Limit of pings (with answers) per second in a whole cluster. Measured on two cores with TLS: 0.3 ms CPU
 * each, so an eighth of a processor.
 */
const MOST_PINGS = 500

/** After this time all others know a shard's state: it has pinged each of them twice. */
const JOINS_SECONDS = 10
/**
 * Twice the number that join at the same time in an upgrade. At the creation of a database all shards start
 * together: with the short timeout their pings alone took both processors.
 */
const MOST_YOUNG = 16

/**
 * Returns the `cluster-node-timeout` in ms for a cluster of this size: the shortest step with few enough
 * pings, or the longest. Each node pings each other twice in that time, so the work grows with the square of
 * their number. For a minute engines keep gossip from restoring a forgotten node: gossip should not be older
 * than that.
 */
export function nodeTimeout(nodes: number): number {
  const pings = (ms: number) => (nodes * (nodes - 1)) / (ms / 2_000)
  return NODE_TIMEOUTS_MS.find((ms) => pings(ms) <= MOST_PINGS) ?? NODE_TIMEOUTS_MS.at(-1) ?? 0
}

/**
 * Returns the joined shards of a database in cluster mode, and their wanted timeout. A new shard keeps the
 * short timeout: Valkey sends the shard id to its primary only in the second ping, and its handover waits for
 * that. If many are new, all are included.
 */
export function planNodeTimeouts({ groups }: ObservedDatabase): {
  readonly shards: readonly LiveShard[]
  readonly ms: number
} {
  const nodes = groups
    .flatMap(({ shards }) => shards.filter(isLive))
    .filter(({ engine }) => engine.cluster !== null)
  const old = nodes.filter(({ engine }) => engine.upSeconds >= JOINS_SECONDS)
  return {
    shards: nodes.length - old.length > MOST_YOUNG ? nodes : old,
    ms: nodeTimeout(nodes.length),
  }
}

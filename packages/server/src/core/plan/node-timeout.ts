import { NODE_TIMEOUTS_MS } from '../state/node-timeouts.ts'
import { isLive, type LiveShard, type ObservedDatabase } from '../state/topology.ts'

/**
 * Pings a second of all nodes of a cluster together, each with its answer. Measured on two cores, with TLS: 0.3 ms of a processor for each, so
 * that this many take an eighth of one.
 */
const MOST_PINGS = 500

/** After this time all others know the state of a shard: it has pinged each of them twice. */
const JOINS_SECONDS = 10
/** Twice as many as join at once in an upgrade. When a database is created, all shards start at once: with the short timeout their pings alone took both processors. */
const MOST_YOUNG = 16

/**
 * `cluster-node-timeout` of a cluster of so many nodes, in milliseconds. Each node pings each other node twice in that time, so the work grows with
 * the square of their number: this is the first of the steps with few enough pings, or the last step. For a minute an engine does not let gossip
 * bring back a node that it was told to forget: gossip about nodes should not be older than that.
 */
export function nodeTimeout(nodes: number): number {
  const pings = (ms: number) => (nodes * (nodes - 1)) / (ms / 2_000)
  return NODE_TIMEOUTS_MS.find((ms) => pings(ms) <= MOST_PINGS) ?? NODE_TIMEOUTS_MS.at(-1) ?? 0
}

/**
 * The shards of a database in cluster mode that have joined it, and their wanted timeout. A shard that has
 * just started is left out and keeps the short timeout: valkey tells its primary the shard id only in the
 * second ping, and its handover waits for that. If many have just started, none is left out.
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

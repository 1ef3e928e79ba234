/** Of one processor, for the two TLS connections between two shards. Measured: 128 shards on two of them were created in 140 s. */
const MS_A_PAIR = 32
const LONG_MS = 60_000

/**
 * A warning before this many shards become one cluster: each shard connects to each other shard, so the time grows with the
 * square of their number. Undefined where they are few, or the node has not said how many processors it has.
 */
export function crowdedCluster(shards: number, cores: number | undefined): string | undefined {
  if (cores === undefined || cores < 1) return undefined
  const ms = (((shards * (shards - 1)) / 2) * MS_A_PAIR) / cores
  if (ms < LONG_MS) return undefined
  const minutes = Math.round(ms / 60_000)
  return `${shards} shards in one cluster on ${cores} processor(s): each shard connects to each other shard, which takes about ${minutes} minute(s); engines and agent answer late meanwhile. Fewer groups, or more processors, take less`
}

/**
 * The timeouts that Fairlead sets, in milliseconds, the shortest first: a process starts with that one (agent/src/engine/engine-config.ts). The others are not
 * round: a person sets no such value, so Fairlead recognizes its own values.
 */
export const NODE_TIMEOUTS_MS: readonly number[] = [5_000, 10_240, 20_480, 40_960, 59_904]

/** The setting of an engine in cluster mode after which it counts another shard as failed. */
export const NODE_TIMEOUT = 'cluster-node-timeout'

/**
 * Fairlead's timeouts in ms. A process starts with the shortest (agent/src/engine/engine-config.ts). The
 * others are odd values that no person sets, so Fairlead recognizes them.
 */
export const NODE_TIMEOUTS_MS: readonly number[] = [5_000, 10_240, 20_480, 40_960, 59_904]

/** Engines' setting in cluster mode: time after which another shard counts as failed. */
export const NODE_TIMEOUT = 'cluster-node-timeout'

/** Connections on the bus, one way, that are made or closed at once: 1,200 TLS connections at 10 ms of a processor, in the worst case. */
const MOST_LINKS = 600
const LEAST = 8

/**
 * How many shards may join or leave a cluster of this size at once, if the request does not say: each opens or closes two TLS
 * connections to each other node. Up to 25 nodes all may; of 32 at once, clients got a fifth of their writes through.
 */
export function mostAtOnce(nodes: number): number {
  return Math.max(LEAST, Math.floor(MOST_LINKS / Math.max(1, nodes)))
}

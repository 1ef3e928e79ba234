/** Connections on the bus, counted in one direction, that are opened or closed at once: 1,200 TLS connections at 10 ms of a processor each, in the worst case. */
const MOST_LINKS = 600
const LEAST = 8

/**
 * How many shards may join or leave a cluster of this size at once, if the request does not say: each opens or closes two TLS
 * connections to each other node. Up to 25 nodes all may; when 32 did so at once, clients had only a fifth of their usual writes.
 */
export function mostAtOnce(nodes: number): number {
  return Math.max(LEAST, Math.floor(MOST_LINKS / Math.max(1, nodes)))
}

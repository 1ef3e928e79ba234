/** Bus connections (one direction) that may open or close together; worst case 1,200 TLS, 10 ms CPU each. */
const MOST_LINKS = 600
const LEAST = 8

/**
 * Returns the default number of shards that may join or leave a cluster of this size at the same time: each
 * opens or closes two TLS connections to each other node. Up to 25 nodes all may; when 32 did, clients had
 * only a fifth of their usual writes.
 */
export function mostAtOnce(nodes: number): number {
  return Math.max(LEAST, Math.floor(MOST_LINKS / Math.max(1, nodes)))
}

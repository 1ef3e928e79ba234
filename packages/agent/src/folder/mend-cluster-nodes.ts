/** Of a nodes.conf. A thousand nodes have some 200 KB, and slots in 8,000 pieces 100 KB more. */
export const MAX_NODES_BYTES = 4 * 1024 * 1024

/**
 * Makes a nodes.conf safe for the engine that starts with it: what it says of others' roles may be stale.
 *
 * An engine writes down what gossip has told it so far. Roles move while it is away, and it learns of that in
 * any order. Engines have two faults here:
 *
 * - **A circle of followers.** The file says that `b` follows `a`; the first news is that `a` follows `b` now. Valkey 8.1 and
 *   9.1 then loop over that circle endlessly when a third node follows one of the two: the process uses a whole processor and never
 *   answers again (valkey-io/valkey#651, #2441). So the file makes other replicas primaries without slots, like nodes that are new
 *   to the cluster. Their first packet says which primary they follow.
 * - **Shard ids.** Valkey 8 refuses a file in which a replica belongs to another shard of the cluster than its primary does ("corrupted
 *   cluster config file", and ends with SIGSEGV). So the engine's own node gets the shard id of the primary that it follows.
 *
 * Slots, epochs, addresses and the engine's own role stay unchanged: the engine serves at once what it served
 * before.
 */
export function mendClusterNodes(text: string): string {
  const lines = text.split('\n').map(withoutPrimary)
  const shards = new Map(lines.map((line) => [field(line, 0), shardIdOf(line)]))
  return lines
    .map((line) => {
      const wanted = shards.get(field(line, 3))
      return wanted === undefined ? line : line.replace(SHARD_ID, `shard-id=${wanted}`)
    })
    .join('\n')
}

const SHARD_ID = /shard-id=([0-9a-f]{40})/

function shardIdOf(line: string): string | undefined {
  return SHARD_ID.exec(line)?.[1]
}

/** A line is: id, address, flags, primary or "-", ping, pong, epoch, link, slots. */
function withoutPrimary(line: string): string {
  const [id = '', address = '', flags = '', , ...rest] = line.split(' ')
  const each = flags.split(',')
  if (!each.includes('slave') || each.includes('myself')) return line
  const asPrimary = each.map((flag) => (flag === 'slave' ? 'master' : flag))
  return [id, address, asPrimary.join(','), '-', ...rest].join(' ')
}

function field(line: string, n: number): string {
  return line.split(' ')[n] ?? ''
}

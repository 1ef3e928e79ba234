/** Of a nodes.conf. A thousand nodes have some 200 KB, and slots in 8,000 pieces 100 KB more. */
export const MAX_NODES_BYTES = 4 * 1024 * 1024

/**
 * Makes a nodes.conf safe for the engine that starts with it: what it says of others' roles may be stale.
 *
 * An engine writes down what gossip has told it so far. Roles move while it is away, and it learns of that in
 * any order. Engines have faults here:
 *
 * - **A circle of followers.** The file says that `b` follows `a`; the first news is that `a` follows `b` now. Valkey 8.1 and
 *   9.1 then loop over that circle endlessly when a third node follows one of the two: the process uses a whole processor and never
 *   answers again (valkey-io/valkey#651, #2441). So the file makes other replicas primaries without slots, like nodes that are new
 *   to the cluster. Their first packet says which primary they follow.
 * - **Shard ids.** Valkey 8 refuses a file in which a replica belongs to another shard of the cluster than its primary does ("corrupted
 *   cluster config file", and ends with SIGSEGV). So the engine's own node gets the shard id of the primary that it follows.
 *
 * And redis before 7.0 reads the epoch of a replica's own line, which is that of its primary, as its own. When it takes over, it
 * does not raise it then, and its primary keeps the slots. So a replica begins with 0, as it does with newer engines.
 *
 * Slots, the epochs of primaries, addresses and the engine's own role stay unchanged: the engine serves at once what it
 * served before.
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
  if (!each.includes('slave')) return line
  if (each.includes('myself')) return withoutEpoch(line)
  const asPrimary = each.map((flag) => (flag === 'slave' ? 'master' : flag))
  return [id, address, asPrimary.join(','), '-', ...rest].join(' ')
}

function withoutEpoch(line: string): string {
  return line
    .split(' ')
    .map((word, n) => (n === EPOCH ? '0' : word))
    .join(' ')
}

const EPOCH = 6

function field(line: string, n: number): string {
  return line.split(' ')[n] ?? ''
}

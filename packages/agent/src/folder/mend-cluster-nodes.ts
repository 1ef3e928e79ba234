/** Limit of a nodes.conf. A thousand nodes have about 200 KB, and slots in 8,000 pieces 100 KB more. */
export const MAX_NODES_BYTES = 4 * 1024 * 1024

/**
 * Makes a nodes.conf safe for the engine that starts with it: its roles of other nodes may be stale, because
 * roles move while the engine is down and it hears of that by gossip in any order. Engines have these faults:
 * 1. Cycle of followers: in the file `b` follows `a`, then the first news is that `a` follows `b`. If a third
 *    node follows one of the two, Valkey 8.1 and 9.1 loop endlessly over the cycle: the process uses a whole
 *    processor and never answers again (valkey-io/valkey#651, #2441). So other replicas become primaries
 *    without slots, like new nodes; their first packet names their primary.
 * 2. Shard ids: Valkey 8 refuses a file in which a replica has another shard id than its primary ("corrupted
 *    cluster config file", and ends with SIGSEGV). So the engine's own node gets its primary's shard id.
 * 3. Epochs: Redis before 7.0 takes the epoch on a replica's own line, which is its primary's, for its own.
 *    It would not raise it at a takeover, and its primary would keep the slots. So a replica begins with 0,
 *    as with newer engines.
 * Slots, epochs of primaries, addresses and the engine's own role are unchanged, so that the engine serves
 * immediately.
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

/** A line has: id, address, flags, primary or "-", ping, pong, epoch, link, slots. */
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

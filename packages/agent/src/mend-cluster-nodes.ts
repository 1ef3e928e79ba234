/**
 * Makes a nodes.conf readable for the engine that wrote it.
 *
 * An engine writes down what it knows, also while gossip is on its way: that a replica belongs to another shard of the
 * cluster than its primary does. Valkey 8 refuses such a file ("corrupted cluster config file", and ends with SIGSEGV),
 * so a shard that restarts in the seconds after a handover elsewhere would never come back. Each replica gets the shard
 * id of the primary it follows, those that follow each other in a circle (a role that went there and back) get one id;
 * everything else stays as it is.
 */
export function mendClusterNodes(text: string): string {
  const lines = text.split('\n')
  const primaries = new Map(lines.map((line): [string, string] => [field(line, 0), field(line, 3)]))
  const shards = new Map(lines.map((line) => [field(line, 0), shardIdOf(line)]))
  return lines
    .map((line) => {
      const wanted = shards.get(rootOf(field(line, 0), primaries))
      return wanted === undefined ? line : line.replace(SHARD_ID, `shard-id=${wanted}`)
    })
    .join('\n')
}

const SHARD_ID = /shard-id=([0-9a-f]{40})/

function shardIdOf(line: string): string | undefined {
  return SHARD_ID.exec(line)?.[1]
}

/** The node at the end of the chain of followers; of a chain that ends in a circle, the least of the circle. */
function rootOf(id: string, primaries: ReadonlyMap<string, string>): string {
  const chain: string[] = []
  for (let next = id; ; ) {
    const begin = chain.indexOf(next)
    if (begin >= 0) return chain.slice(begin).toSorted()[0] ?? id
    chain.push(next)
    const primary = primaries.get(next)
    if (primary === undefined || primary === '-' || !primaries.has(primary)) return next
    next = primary
  }
}

function field(line: string, n: number): string {
  return line.split(' ')[n] ?? ''
}

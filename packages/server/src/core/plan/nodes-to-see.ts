import type { Address } from '@fairlead/api'

/** Limit of nodes at one address: a shard, and leftovers of its former processes. */
const MOST_AT_ONE_ADDRESS = 4
/** Limit of strangers; others are seen after these are forgotten. */
const MOST_STRANGERS = 64

/**
 * Selects the reported nodes to examine: the engine itself, the database's shards, and some others. An engine
 * may report anything, and each node costs a comparison and a command for every shard, and a line for people.
 */
export function nodesToSee<Node extends { readonly myself: boolean; readonly address: Address }>(
  nodes: readonly Node[],
  records: readonly Address[],
): readonly Node[] {
  const isOnRecord = new Set(records.map(nameOf))
  const own = nodes.find(({ myself }) => myself)
  const rest = nodes.filter((node) => node !== own)
  const shards = rest.filter(({ address }) => isOnRecord.has(nameOf(address)))
  const strangers = rest.filter(({ address }) => !isOnRecord.has(nameOf(address)))
  return [
    ...(own === undefined ? [] : [own]),
    ...shards.slice(0, MOST_AT_ONE_ADDRESS * records.length),
    ...strangers.slice(0, MOST_STRANGERS),
  ]
}

function nameOf({ host, port }: Address): string {
  return `${host}:${port}`
}

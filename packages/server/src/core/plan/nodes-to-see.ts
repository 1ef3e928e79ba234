import type { Address } from '@fairlead/api'

/** How many nodes may have one address: a shard, and what is left over from its former processes. */
const MOST_AT_ONE_ADDRESS = 4
/** Further strangers are not looked at: they are seen when these are forgotten. */
const MOST_STRANGERS = 64

/**
 * Which of the nodes that an engine reports are looked at: itself, the shards of the database, and some of all others. An engine
 * may report anything, and each node costs a comparison with every shard, a command to every shard and a line for people.
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

import { type EngineConnection, EngineError, readClusterNodes } from '@fairlead/engine'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { whyNotKnown } from '../../core/state/slot-map.ts'

/**
 * Is the group ready for this successor, in cluster mode? Undefined when it is, else what is missing. Asks the
 * engines right before the role moves. The plan has checked a moment ago that all primaries know the successor,
 * too (core/plan/plan-cluster.ts): they redirect clients to it, and nothing is lost if one of them learns of it late.
 *
 * - The successor must see every slot served, and know of its primary what the primary itself knows. If it believes its primary to own
 *   fewer slots, it would take over only those; the data of the other slots would be deleted (docs/explain/measurements/handover.md, finding 4).
 * - No other member of the group may count it to another shard of the cluster than its primary (redis 7.0 and later):
 *   otherwise its slots "migrate" one by one to a stranger (5,461 lines in the log, 90 ms), and followers of the old
 *   primary take a full sync. A member that has read the group from its file counts it to none, and hands over well.
 * - Every other member must know the successor and the successor's primary. A sibling that does not takes the successor for a stranger that takes
 *   slots away: it keeps following the old primary, or takes a full sync.
 */
export async function whyNotMapped(
  primary: EngineConnection,
  successor: EngineConnection,
  siblings: readonly EngineConnection[],
): Promise<Obstacle | undefined> {
  const beside = [primary, ...siblings]
  const port = successor.address.port
  const [view, ...known] = await Promise.all([
    nodesOf(successor),
    ...beside.map(async (member) => {
      const [nodes, shards] = await Promise.all([nodesOf(member), shardsOf(member)])
      return { at: member.address.port, nodes, shards }
    }),
  ])
  const own = view.find(({ myself }) => myself)
  const follows = own?.primary ?? null
  const unaware = known.find(
    ({ nodes }) => follows === null || nodes.find(({ id }) => id === own?.id)?.primary !== follows,
  )
  if (unaware !== undefined)
    return unknown(
      `the shard at port ${unaware.at} does not know the primary of the one at port ${port} in the cluster yet`,
    )
  const stranger = known.find(({ shards }) =>
    shards.some((text) => has(text, own?.id) && !has(text, follows)),
  )
  if (stranger !== undefined)
    return unknown(
      `the shard at port ${stranger.at} counts the one at port ${port} to another shard of the cluster than its primary`,
    )
  const obstacle = whyNotKnown(
    view,
    known.slice(0, 1).map(({ nodes }) => nodes),
  )
  return obstacle === undefined ? undefined : unknown(`the shard at port ${port} ${obstacle}`)
}

function unknown(why: string): Obstacle {
  return { code: 'cluster_view', why }
}

async function nodesOf(connection: EngineConnection) {
  return readClusterNodes(String(await connection.call('CLUSTER', 'NODES')))
}

/** The shards of the cluster as this member sees them, each as a text that names its nodes; none before redis 7.0. */
async function shardsOf(member: EngineConnection): Promise<readonly string[]> {
  try {
    const shards = await member.call('CLUSTER', 'SHARDS')
    return Array.isArray(shards) ? shards.map((shard) => JSON.stringify(shard)) : []
  } catch (cause) {
    if (cause instanceof EngineError) return []
    throw cause
  }
}

function has(shard: string, node: string | null | undefined): boolean {
  return shard.includes(`"${node}"`)
}

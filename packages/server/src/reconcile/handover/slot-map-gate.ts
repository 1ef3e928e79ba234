import { type EngineConnection, EngineError, readClusterNodes } from '@fairlead/engine'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { whyNotKnown } from '../../core/state/slot-map.ts'

/**
 * Checks in cluster mode, right before the role moves, that the group is ready for this successor. Returns
 * the obstacle or undefined. The plan has already checked that all primaries know the successor
 * (core/plan/plan-cluster.ts): they redirect clients to it, and late knowledge loses nothing.
 * 1. The successor must see every slot served, and know the slots of its primary. If it knew fewer, it would
 *    take over only those; the data of the others would be deleted (docs/explain/measurements/handover.md,
 *    finding 4).
 * 2. No member may count the successor to another shard of the cluster than its primary (Redis 7.0 and
 *    later): its slots would "migrate" singly to a stranger (5,461 log lines, 90 ms), and followers of the
 *    old primary would take a full sync. A member that read the group from its file counts it to none, and
 *    hands over well.
 * 3. Every other member must know the successor and its primary. A sibling that does not keeps following the
 *    old primary, or takes a full sync, because the successor seems to be a stranger that takes slots away.
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

/** Returns the cluster's shards as this member sees them, as texts with node ids; none before Redis 7.0. */
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

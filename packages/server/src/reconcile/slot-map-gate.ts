import { type EngineConnection, EngineError, readClusterNodes } from '@fairlead/engine'
import { whyNotKnown } from '../core/slot-map.ts'

/**
 * Is the group ready for this heir, in cluster mode? Undefined when it is, else in words what is lacking. Asked of the engines
 * right before the role moves. The planner has seen a moment ago that all primaries know the heir too (core/plan-cluster.ts):
 * clients ask them the way, and nothing is lost if one is late.
 *
 * - The heir must know every slot served, and of its primary what that one itself knows. If it believes its primary to own
 *   less, it would take over just that; the data of the other slots would be deleted (facts on handover, finding 4).
 * - Every other member of the group must count it to its primary's shard of the cluster, where the engine has such a thing:
 *   otherwise its slots "migrate" one by one to a stranger (5,461 lines in the log, 90 ms), and who followed the old
 *   primary takes a full sync.
 * - Every other member must know the heir, and whom it follows. A sibling that does not takes it for a stranger that takes
 *   slots away: it keeps following the old primary, or takes a full sync.
 */
export async function whyNotMapped(
  primary: EngineConnection,
  heir: EngineConnection,
  siblings: readonly EngineConnection[],
): Promise<string | undefined> {
  const [view = [], lead = [], ...rest] = await Promise.all([heir, primary, ...siblings].map(nodesOf))
  const own = view.find(({ myself }) => myself)
  const beside = [primary, ...siblings]
  const port = heir.address.port
  const unaware = beside.find((_, n) => {
    const nodes = [lead, ...rest][n]
    return own?.primary == null || nodes?.find(({ id }) => id === own.id)?.primary !== own.primary
  })
  if (unaware !== undefined)
    return `the shard at port ${unaware.address.port} does not know yet whom the one at port ${port} follows in the cluster`
  const counted = await Promise.all(beside.map((one) => isOneShard(one, own?.id ?? '', own?.primary ?? '')))
  const stranger = beside.find((_, n) => counted[n] === false)
  if (stranger !== undefined)
    return `the shard at port ${stranger.address.port} does not count the one at port ${port} to its own shard of the cluster yet`
  const obstacle = whyNotKnown(view, [lead])
  return obstacle && `the shard at port ${port} ${obstacle}`
}

async function nodesOf(connection: EngineConnection) {
  return readClusterNodes(String(await connection.call('CLUSTER', 'NODES')))
}

/** Does this member see both nodes in one shard of the cluster? Engines before redis 7.0 know no such thing. */
async function isOneShard(member: EngineConnection, a: string, b: string): Promise<boolean> {
  try {
    const shards = await member.call('CLUSTER', 'SHARDS')
    const texts = Array.isArray(shards) ? shards.map((shard) => JSON.stringify(shard)) : []
    return texts.some((text) => text.includes(`"${a}"`) && text.includes(`"${b}"`))
  } catch (cause) {
    if (cause instanceof EngineError) return true
    throw cause
  }
}

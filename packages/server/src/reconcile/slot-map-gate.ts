import { type EngineConnection, EngineError, readClusterNodes } from '@fairlead/engine'
import { whyNotKnown } from '../core/slot-map.ts'
import type { Scene } from './carry-out.ts'

/**
 * Is the cluster ready for this heir? Undefined when it is, else in words what is lacking. These take gossip up to
 * some seconds after a shard has joined:
 *
 * - The heir must know of every primary what that primary itself knows. One that believes its primary to own less than
 *   it does would take over just that; the data of the other slots would be deleted (facts on handover, finding 4).
 * - Every other member of the group must count it to its primary's shard of the cluster, where the engine has such a thing:
 *   otherwise its slots "migrate" one by one to a stranger (5,461 lines in the log, 90 ms), and who followed the old
 *   primary takes a full sync.
 * - Every primary and every sibling must know the heir, and whom it follows. A sibling that does not takes it for a
 *   stranger that takes slots away: it keeps following the old primary, or takes a full sync.
 */
export async function whyNotMapped(
  heir: EngineConnection,
  scene: Pick<Scene, 'database' | 'group' | 'everybody' | 'deps'>,
): Promise<string | undefined> {
  const { database, group, everybody, deps } = scene
  const isPrimary = (id: number) => database.groups.some(({ primaryShard }) => primaryShard === id)
  const others = everybody.filter((shard) => isPrimary(shard.id) || shard.group === group)
  const views = await Promise.all(
    others.map(async ({ id, ...shard }) => ({
      id,
      nodes: await nodesOf(await deps.engines.connect(database, { id, ...shard })),
    })),
  )
  const view = await nodesOf(heir)
  const members = await Promise.all(
    everybody.filter((shard) => shard.group === group).map((shard) => deps.engines.connect(database, shard)),
  )
  const beside = members.filter(({ address }) => address.port !== heir.address.port)
  const own = view.find(({ myself }) => myself)
  const unaware = views.find(
    ({ nodes }) => own?.primary == null || nodes.find(({ id }) => id === own.id)?.primary !== own.primary,
  )
  if (unaware !== undefined)
    return `shard ${unaware.id} does not know yet whom the shard at port ${heir.address.port} follows in the cluster`
  for (const member of beside) {
    if (await isOneShard(member, own?.id ?? '', own?.primary ?? '')) continue
    return `the shard at port ${member.address.port} does not count the one at port ${heir.address.port} to its own shard of the cluster yet`
  }
  const obstacle = whyNotKnown(
    view,
    views.filter(({ id }) => isPrimary(id)).map(({ nodes }) => nodes),
  )
  return obstacle && `the shard at port ${heir.address.port} ${obstacle}`
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

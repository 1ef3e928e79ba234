import type { ShardRecord } from '../../core/state/database.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { Scene } from '../turn/scene.ts'
import { wishFor } from '../turn/wish.ts'
import { asTheyRun } from './ports-of-shard.ts'
import { shardCertificate } from './shard-certificates.ts'

/**
 * Before a replica becomes primary: should its process die before the agent hears of its role, it is not started again
 * by itself. In cluster mode it would come back as an empty primary, and empty the one who still has the data.
 */
export async function keepAsleepIfItDies(
  shard: ShardRecord,
  { database, everybody, seen, deps, signal }: Scene,
): Promise<void> {
  const group = everybody.filter((one) => one.group === shard.group)
  const members = asTheyRun(group, seen)
  const wish = wishFor(shard, database, members, await shardCertificate(shard, deps))
  const body = { ...wish, onCrash: 'wait' as const }
  await deps.effect('put-shard', () =>
    deps.agent.putShard({ params: { id: agentName(shard.id) }, body }, { signal }),
  )
}

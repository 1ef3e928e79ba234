import type { EffectRunner } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { Certifying, NodeAgent } from '../turn/ports.ts'
import { shardSpec } from '../turn/shard-spec.ts'
import type { StepContext } from '../turn/step-context.ts'
import { asTheyRun } from './ports-of-shard.ts'
import { shardCertificate } from './shard-certificates.ts'

type SpecContext = Pick<
  StepContext<NodeAgent<'putShard'> & EffectRunner & Certifying<'shards'>>,
  'database' | 'everybody' | 'seen' | 'ports' | 'signal'
>

/**
 * Called before a replica becomes primary: if its process dies before the agent knows its role, the agent
 * must not restart it. In cluster mode it would return as an empty primary, and empty the shard that still
 * has the data.
 */
export async function disableAutoRestart(
  shard: ShardRecord,
  { database, everybody, seen, ports, signal }: SpecContext,
): Promise<void> {
  const group = everybody.filter((one) => one.group === shard.group)
  const members = asTheyRun(group, seen)
  const spec = shardSpec(shard, database, members, await shardCertificate(shard, ports))
  const body = { ...spec, onCrash: 'wait' as const }
  await ports.effect('put-shard', () =>
    ports.agent.putShard({ params: { id: agentName(shard.id) }, body }, { signal }),
  )
}

import { isDeepStrictEqual } from 'node:util'
import type { ShardSaving } from '@fairlead/api'
import type { EffectRunner } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { NodeAgent } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Keeps what the shards of a database save, and when, as recorded: their agents change running processes.
 * Asks again each turn until the agent reports it.
 */
export async function keepSaving(
  { persistence, aofFsync, snapshots }: Database,
  { groups }: ObservedDatabase,
  { agent, effect }: NodeAgent<'putSaving'> & EffectRunner,
  memory: Pick<TurnMemory, 'again'>,
): Promise<void> {
  const body: ShardSaving = { persistence, aofFsync, snapshots: [...snapshots] }
  for (const { id, saving, leaving } of groups.flatMap(({ shards }) => shards)) {
    if (saving == null || leaving) continue
    // While its process changes, its agent may have another order: one that was taken back since.
    if (isDeepStrictEqual(saving, body)) continue
    await effect('put-saving', () => agent.putSaving({ params: { id: agentName(id) }, body }))
    memory.again(`saving of shard ${id}`)
  }
}

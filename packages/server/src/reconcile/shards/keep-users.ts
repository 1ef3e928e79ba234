import type { EffectRunner } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import { revisionOf } from '../../core/state/goal.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { hasUsers, usersOf } from '../../core/users/database-users.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { NodeAgent } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Keeps the users of a database as recorded on all of its shards: their agents change running processes. Asks
 * again each turn until the agent reports it.
 */
export async function keepUsers(
  database: Database,
  { groups }: ObservedDatabase,
  { agent, effect }: NodeAgent<'putUsers'> & EffectRunner,
  memory: Pick<TurnMemory, 'again'>,
): Promise<void> {
  for (const { id, users = null, leaving, wanted, revision } of groups.flatMap(({ shards }) => shards)) {
    // While another build starts, words for the next one may not be those of the process.
    if (leaving || revision !== revisionOf(wanted)) continue
    const { build } = wanted
    if (hasUsers(database, { build, users })) continue
    const body = usersOf(database, build)
    await effect('put-users', () => agent.putUsers({ params: { id: agentName(id) }, body }))
    memory.again(`users of shard ${id}`)
  }
}

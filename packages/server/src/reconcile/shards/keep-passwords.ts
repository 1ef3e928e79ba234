import type { ShardPasswords } from '@fairlead/api'
import type { EffectRunner } from '@fairlead/engine'
import { formerPasswords, takeExactly, validPasswords } from '../../core/access/former-access.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { Clock, NodeAgent } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/** Keeps the passwords of the database's user as recorded: their agents change the running processes. */
export async function keepPasswords(
  database: Pick<Database, 'userPassword' | 'former'>,
  { groups }: ObservedDatabase,
  { agent, effect, now }: NodeAgent<'putPasswords'> & EffectRunner & Clock,
  memory: Pick<TurnMemory, 'again'>,
): Promise<void> {
  const valid = validPasswords(database, now())
  const { userPassword, former } = database
  const body: ShardPasswords = { userPassword, formerPasswords: [...formerPasswords(former, now())] }
  for (const shard of groups.flatMap(({ shards }) => shards)) {
    if (shard.leaving || shard.passwords == null || takeExactly(valid, [shard])) continue
    await effect('put-passwords', () => agent.putPasswords({ params: { id: agentName(shard.id) }, body }))
    memory.again(`passwords of shard ${shard.id}`)
  }
}

import { type EffectRunner, refusesWrites, resumeWrites } from '@fairlead/engine'
import { isSilent } from '../../core/plan/may-serve.ts'
import type { Database } from '../../core/state/database.ts'
import { isLive, type ObservedDatabase, type ObservedGroup } from '../../core/state/topology.ts'
import type { EngineConnections } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Ends a refusal of writes where writes are safe: the shard is the only primary, and no handover holds it.
 * Needed for Redis before 6.2, whose refusal, unlike a pause, has no timeout.
 */
export async function keepWritesGoing(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections<'tryOn'> & EffectRunner,
  memory: TurnMemory,
): Promise<void> {
  for (const seen of groups) {
    const primary = onlyPrimary(seen)
    const isHeld = seen.handover !== null && !seen.handover.released
    if (primary === undefined || isHeld) continue
    const { id, address, wanted } = primary
    if (!memory.isTime(`refusal of writes at ${id}`, LOOK_EVERY_MS)) continue
    await ports.engines.tryOn(database, { id, ...address }, async (connection) => {
      if (await refusesWrites(connection, wanted.build)) await resumeWrites(connection, wanted.build, ports)
    })
  }
}

/** Returns the only primary; undefined also if a silent shard may be another one. */
function onlyPrimary({ shards }: ObservedGroup) {
  if (shards.some(isSilent)) return undefined
  const primaries = shards.filter(isLive).filter(({ engine }) => engine.role === 'primary')
  return primaries.length === 1 ? primaries[0] : undefined
}

const LOOK_EVERY_MS = 1_000

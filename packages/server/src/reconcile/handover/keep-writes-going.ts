import { isSilent } from '../../core/plan/may-serve.ts'
import type { Database } from '../../core/state/database.ts'
import { isLive, type ObservedDatabase, type ObservedGroup } from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import type { EffectRunner, EngineConnections } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { letWritesGo, refusesWrites } from './stop-writes.ts'

/**
 * A redis before 6.2 that was told to refuse writes does so until it is told otherwise, unlike a pause, which ends by itself. If
 * writes are safe (it is the only primary, and no handover holds it), this lets them go on.
 */
export async function keepWritesGoing(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections & EffectRunner,
  memory: TurnMemory,
): Promise<void> {
  for (const seen of groups) {
    const primary = onlyPrimary(seen)
    const isHeld = seen.handover !== null && !seen.handover.released
    if (primary === undefined || isHeld) continue
    const { id, address, wanted } = primary
    if (!memory.isTime(`refusal of writes at ${id}`, LOOK_EVERY_MS)) continue
    await ifItAnswers(async () => {
      const connection = await ports.engines.connect(database, { id, ...address })
      if (await refusesWrites(connection, wanted.build)) await letWritesGo(connection, wanted.build, ports)
    })
  }
}

/** Undefined also if a silent shard may be another primary. */
function onlyPrimary({ shards }: ObservedGroup) {
  if (shards.some(isSilent)) return undefined
  const primaries = shards.filter(isLive).filter(({ engine }) => engine.role === 'primary')
  return primaries.length === 1 ? primaries[0] : undefined
}

const LOOK_EVERY_MS = 1_000

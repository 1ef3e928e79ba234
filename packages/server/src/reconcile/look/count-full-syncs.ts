import { numberOf, readInfo } from '@fairlead/engine'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { EngineConnections } from '../turn/ports.ts'

/** Returns the full syncs served by each answering shard since its process started, by shard id. */
export async function countFullSyncs(
  database: Database,
  shards: readonly ShardRecord[],
  { engines }: EngineConnections<'tryOn'>,
): Promise<Readonly<Record<string, number>>> {
  const count = (shard: ShardRecord) =>
    engines.tryOn(database, shard, async (connection) => {
      return [shard.id, numberOf(readInfo(await connection.info('stats')), 'sync_full')] as const
    })
  const counts = await Promise.all(shards.map(count))
  return Object.fromEntries(counts.filter((one) => one !== null))
}

/** Returns the number added between both counts. A restarted process counts from 0. */
export function fullSyncsSince(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): number {
  return Object.entries(now).reduce(
    (sum, [shard, count]) => sum + Math.max(0, count - (before[shard] ?? 0)),
    0,
  )
}

import { type EffectRunner, type EngineConnection, readInfo } from '@fairlead/engine'
import {
  allows,
  isOurs,
  type ReplicaLimit,
  readReplicaLimit,
  SYNC_SETTING,
  syncRoom,
  usualLimit,
  writeReplicaLimit,
} from '../../core/carry-over/sync-room.ts'
import type { Database } from '../../core/state/database.ts'
import { isLive, type LiveShard, type ObservedDatabase } from '../../core/state/topology.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { EngineConnections, NodeAgent, ShardRecords } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

type SyncRoomPorts = EffectRunner & ShardRecords<'limitBefore' | 'setLimitBefore'> & NodeAgent<'readBaseline'>

/**
 * Raises the replica output limit of a primary while a follower takes a full sync: by default engines drop a
 * replica that is 256 MB behind, so a large database under load would never be synced. Other shards get their
 * former limit back, which is recorded before a change; after a crash, the next server recognizes raised
 * limits by their size.
 */
export async function keepSyncRoom(
  database: Database,
  seen: ObservedDatabase,
  ports: SyncRoomPorts & EngineConnections<'tryOn'>,
  memory: TurnMemory,
): Promise<void> {
  for (const group of seen.groups) {
    const bytes = syncRoom(group, seen.groups)
    for (const shard of group.shards.filter(isLive)) {
      const { id, address, engine } = shard
      const isFeeding = bytes !== null && id === group.recordedPrimary && engine.role === 'primary'
      // Once at first, for leftovers of a former server, and after each sync.
      const key = `usual limit of shard ${id}, ${engine.runId}`
      if (!memory.isTime(isFeeding ? `${key}, to widen` : key, isFeeding ? WIDEN_EVERY_MS : DAY_MS)) continue
      if (isFeeding) memory.again(key)
      const kept = await ports.engines.tryOn(database, { id, ...address }, async (connection) => {
        if (isFeeding) await widen(connection, shard, bytes, ports)
        else await takeBack(connection, shard, ports)
        return true
      })
      if (kept !== true) memory.again(key)
    }
  }
}

/** Returns a shard's limit before it was raised: an operator may have set it, and it moves with the role. */
export async function limitBefore(
  connection: EngineConnection,
  id: number,
  ports: ShardRecords<'limitBefore'>,
): Promise<ReplicaLimit | null> {
  const now = await limitOf(connection)
  if (now === null || !isOurs(now)) return null
  const runId = readInfo(await connection.info('server'))['run_id'] ?? ''
  return await limitOnRecord({ id, engine: { runId } }, ports)
}

/** Reads the record for this process only: the next one starts with the agent's limit. */
async function limitOnRecord(
  { id, engine }: { readonly id: number; readonly engine: { readonly runId: string } },
  { shards }: ShardRecords<'limitBefore'>,
): Promise<ReplicaLimit | null> {
  const before = await shards.limitBefore(id)
  return before?.runId === engine.runId ? before.limit : null
}

async function widen(
  connection: EngineConnection,
  { id, engine }: LiveShard,
  bytes: number,
  { effect, shards }: EffectRunner & ShardRecords<'setLimitBefore'>,
): Promise<void> {
  const now = await limitOf(connection)
  if (now === null || allows(now, bytes)) return
  if (!isOurs(now)) await shards.setLimitBefore(id, { runId: engine.runId, limit: now })
  // Never lowered during a sync, which could interrupt it.
  const hardBytes = Math.max(bytes, isOurs(now) ? now.hardBytes : 0)
  await setLimit(connection, { hardBytes, softBytes: 0, softSeconds: 0 }, effect)
}

async function takeBack(connection: EngineConnection, shard: LiveShard, ports: SyncRoomPorts): Promise<void> {
  const { effect, shards } = ports
  const now = await limitOf(connection)
  if (now === null || !isOurs(now)) return
  const before = (await limitOnRecord(shard, ports)) ?? (await limitAtStart(shard.id, ports))
  await setLimit(connection, before, effect)
  await shards.setLimitBefore(shard.id, null)
}

async function setLimit(connection: EngineConnection, limit: ReplicaLimit, effect: EffectRunner['effect']) {
  await effect('sync-room', () => connection.call('CONFIG', 'SET', SYNC_SETTING, writeReplicaLimit(limit)))
}

/** Reads the limit from the agent's baseline of the process. */
async function limitAtStart(shard: number, { agent }: NodeAgent<'readBaseline'>): Promise<ReplicaLimit> {
  const { settings } = await agent.readBaseline({ params: { id: agentName(shard) } })
  return readReplicaLimit(settings?.[SYNC_SETTING] ?? '') ?? usualLimit
}

async function limitOf(connection: EngineConnection): Promise<ReplicaLimit | null> {
  return readReplicaLimit(String(await connection.call('CONFIG', 'GET', SYNC_SETTING)))
}

const DAY_MS = 24 * 60 * 60 * 1_000
const WIDEN_EVERY_MS = 1_000

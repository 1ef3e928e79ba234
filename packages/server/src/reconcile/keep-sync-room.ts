import type { EngineConnection } from '@fairlead/engine'
import type { Database } from '../core/database.ts'
import {
  allows,
  isOurs,
  type ReplicaLimit,
  readReplicaLimit,
  syncRoom,
  usualLimit,
  writeReplicaLimit,
} from '../core/sync-room.ts'
import type { Seen, SeenDatabase } from '../core/topology.ts'
import type { Deps } from './deps.ts'
import { ifItAnswers } from './engines.ts'
import { agentName } from './observe.ts'
import type { TurnMemory } from './turn-memory.ts'

/**
 * While a follower takes a full sync, its primary may hold back more of what is written meanwhile than engines allow by themselves: they
 * drop a replica that is 256 MB behind, and a large database under load would never be synced. Afterwards the limit is what it was. A
 * server that died in between is succeeded by one that knows our limits by their size.
 */
export async function keepSyncRoom(
  database: Database,
  seen: SeenDatabase,
  deps: Deps,
  memory: TurnMemory,
): Promise<void> {
  for (const group of seen.groups) {
    const bytes = syncRoom(group, seen.groups)
    const key = `room for syncs of ${database.uid}:${group.group}`
    // Once at first, to find what a server before this one has left, and again after each sync.
    if (!memory.isTime(bytes === null ? key : `${key} to widen`, bytes === null ? DAY_MS : WIDEN_EVERY_MS))
      continue
    if (bytes !== null) memory.again(key)
    const kept = await ifItAnswers(() => keep(database, group, bytes, deps, memory))
    if (kept !== true) memory.again(key)
  }
}

/** True when the limit is as it shall be. */
async function keep(
  database: Database,
  group: Seen,
  bytes: number | null,
  deps: Deps,
  memory: TurnMemory,
): Promise<boolean> {
  const primary = group.shards.find(({ id }) => id === group.recordedPrimary)
  if (primary?.engine?.role !== 'primary') return false
  const { id, address, engine } = primary
  const connection = await deps.engines.connect(database, { id, ...address })
  const now = await limitOf(connection)
  if (now === null) return true
  const note = `limit of shard ${id}, ${engine.runId}`
  const set = (limit: ReplicaLimit) =>
    deps.effect('sync-room', () => connection.call('CONFIG', 'SET', PARAMETER, writeReplicaLimit(limit)))
  if (bytes !== null) {
    if (allows(now, bytes)) return true
    if (!isOurs(now)) memory.notes.set(note, writeReplicaLimit(now))
    // Only ever more, while it lasts: less could cut a sync that runs.
    const hardBytes = Math.max(bytes, isOurs(now) ? now.hardBytes : 0)
    await set({ hardBytes, softBytes: 0, softSeconds: 0 })
    return true
  }
  if (!isOurs(now)) return true
  await set(readReplicaLimit(memory.notes.get(note) ?? '') ?? (await limitAtStart(id, deps)))
  memory.notes.delete(note)
  return true
}

/** By the agent's baseline of the process. */
async function limitAtStart(shard: number, { agent }: Deps): Promise<ReplicaLimit> {
  const { settings } = await agent.readBaseline({ params: { id: agentName(shard) } })
  return readReplicaLimit(settings?.[PARAMETER] ?? '') ?? usualLimit
}

async function limitOf(connection: EngineConnection): Promise<ReplicaLimit | null> {
  return readReplicaLimit(String(await connection.call('CONFIG', 'GET', PARAMETER)))
}

const PARAMETER = 'client-output-buffer-limit'
const DAY_MS = 24 * 60 * 60 * 1_000
const WIDEN_EVERY_MS = 1_000

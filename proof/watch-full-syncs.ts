import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ShardSpec } from '@fairlead/api'
import { connectEngine, type EngineConnection, numberOf, readInfo } from '@fairlead/engine'

export interface FullSyncWatch extends AsyncDisposable {
  /** Full syncs that any process of this home has served since the watch began. */
  count(): Promise<number>
  /** How many shards have been started since the watch began, those that are gone included. */
  newShards(): number
}

/**
 * Counts full syncs from outside, from each engine's own counter, asked every 25 ms: of every process that
 * lives for a while, also those that are gone in the end.
 */
export async function watchFullSyncs(home: string): Promise<FullSyncWatch> {
  const counters = new Map<string, { readonly first: number; last: number }>()
  const connections = new Map<string, EngineConnection>()
  const shards = new Set<string>()
  const stop = new AbortController()
  const look = async (isFirst: boolean) => {
    for (const shard of await readdir(join(home, 'shards')).catch(() => [])) {
      const seen = await ask(home, shard, connections)
      if (seen === null) continue
      shards.add(shard)
      // A process that appears later has served no full sync before.
      const counter = counters.get(seen.runId) ?? { first: isFirst ? seen.fullSyncs : 0, last: 0 }
      counter.last = seen.fullSyncs
      counters.set(seen.runId, counter)
    }
  }
  await look(true)
  const old = shards.size
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await look(false)
      await pause(25)
    }
  })()
  return {
    async count() {
      await look(false)
      return [...counters.values()].reduce((sum, { first, last }) => sum + last - first, 0)
    },
    newShards: () => shards.size - old,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await looking
      for (const connection of connections.values()) connection[Symbol.dispose]()
    },
  }
}

async function ask(
  home: string,
  shard: string,
  connections: Map<string, EngineConnection>,
): Promise<{ runId: string; fullSyncs: number } | null> {
  try {
    const known = connections.get(shard)
    const connection = known?.usable ? known : await connect(home, shard)
    connections.set(shard, connection)
    const fields = readInfo(`${await connection.info('server')}\n${await connection.info('stats')}`)
    return { runId: fields['run_id'] ?? '', fullSyncs: numberOf(fields, 'sync_full') }
  } catch {
    return null // it is being started, stopped or restarted just now
  }
}

async function connect(home: string, shard: string): Promise<EngineConnection> {
  const { wish: spec } = JSON.parse(await readFile(join(home, 'shards', shard, 'wanted.json'), 'utf8')) as {
    wish: ShardSpec
  }
  return connectEngine({
    address: spec,
    login: { username: 'fairlead', password: spec.adminPassword },
    connectTimeoutMs: 300,
  })
}

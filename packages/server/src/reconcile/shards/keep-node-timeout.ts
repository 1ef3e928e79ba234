import type { EffectRunner, EngineConnection } from '@fairlead/engine'
import { planNodeTimeouts } from '../../core/plan/node-timeout.ts'
import type { Database } from '../../core/state/database.ts'
import { NODE_TIMEOUT, NODE_TIMEOUTS_MS } from '../../core/state/node-timeouts.ts'
import type { LiveShard, ObservedDatabase } from '../../core/state/topology.ts'
import type { EngineConnections } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Sets longer node timeouts in large clusters, where shards should exchange messages less often
 * (core/plan/node-timeout.ts). Processes start with the shortest one; one set by a person is kept. No step
 * waits for a silent shard.
 */
export async function keepNodeTimeout(
  database: Database,
  seen: ObservedDatabase,
  ports: EngineConnections<'tryOn'> & EffectRunner,
  memory: Pick<TurnMemory, 'isTime' | 'untilTime' | 'again'>,
): Promise<void> {
  if (!database.cluster) return
  const { shards, ms } = planNodeTimeouts(seen)
  const keyOf = ({ engine }: LiveShard) => `node timeout of ${engine.runId}, ${ms}`
  const due: LiveShard[] = []
  for (const shard of shards) {
    if (memory.untilTime(keyOf(shard), LOOK_EVERY_MS) > 0) continue
    if (due.length < MOST_IN_A_TURN && memory.isTime(keyOf(shard), LOOK_EVERY_MS)) due.push(shard)
    else memory.again(keyOf(shard))
  }
  await Promise.all(
    due.map(async (shard) => {
      const { id, address } = shard
      const kept = await ports.engines.tryOn(database, { id, ...address }, async (connection) => {
        await keep(connection, ms, ports)
        return true
      })
      if (kept === null) memory.again(keyOf(shard))
    }),
  )
}

async function keep(connection: EngineConnection, ms: number, { effect }: EffectRunner): Promise<void> {
  const reply = await connection.call('CONFIG', 'GET', NODE_TIMEOUT)
  const now = Array.isArray(reply) ? Number(reply[1]) : Number.NaN
  if (now !== ms && NODE_TIMEOUTS_MS.includes(now))
    await effect('node-timeout', () => connection.call('CONFIG', 'SET', NODE_TIMEOUT, String(ms)))
}

/** Limit, because a shard that gets a shorter timeout pings many others at the same time. */
const MOST_IN_A_TURN = 16
/**
 * Time for which shards may keep a timeout after the number of nodes has changed. Shorter than the safety
 * net's interval, so that each of its turns does this.
 */
const LOOK_EVERY_MS = 30_000

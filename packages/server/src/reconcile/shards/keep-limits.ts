import { type EffectRunner, type EngineConnection, EngineError, readInfo } from '@fairlead/engine'
import { isAtLeast, isOverLimit, type LimitOrder, limitOrders } from '../../core/plan/limit-orders.ts'
import type { Database } from '../../core/state/database.ts'
import { engineLimit, type Limits } from '../../core/state/engine-memory.ts'
import {
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
} from '../../core/state/topology.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { readEngineMemory } from '../look/read-engine-memory.ts'
import type { EngineConnections, Log, NodeAgent } from '../turn/ports.ts'
import { nextLimits } from '../turn/shard-spec.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Keeps the recorded limits of the database in the settings for its next processes and in the running
 * engines. Corrects every difference: a changed record, a manual change, older processes. Nothing restarts
 * for it.
 */
export async function keepLimits(
  database: Database,
  { groups }: ObservedDatabase,
  ports: NodeAgent<'putLimits'> & EngineConnections<'tryOn'> & EffectRunner & Log,
  memory: Pick<TurnMemory, 'again'>,
): Promise<void> {
  for (const group of groups)
    for (const shard of group.shards) {
      await keepNext(shard, nextLimits(database, group.shards.length), ports)
      if (!isLive(shard)) continue
      const isFollowed = group.shards.length > 1
      const orders = limitOrders(shard.engine.memory, group.limits, isFollowed)
      if (orders.length > 0) await sendLimits(shard, database, orders, ports)
      // An engine that rejects its limit, or whose data do not fit yet, is asked again.
      if (orders.length > 0 || isOverLimit(shard.engine.memory, group.limits, isFollowed))
        memory.again(`limit of shard ${shard.id}`)
    }
}

/** Sets the limits of a shard's next process: with less, it would evict keys before the next look. */
async function keepNext(
  { id, leaving, next }: ObservedShard,
  wanted: ReturnType<typeof nextLimits>,
  { agent, effect }: NodeAgent<'putLimits'> & EffectRunner,
): Promise<void> {
  if (next === null || leaving) return
  if (next.limitBytes === wanted.memoryBytes && next.evictionPolicy === wanted.evictionPolicy) return
  await effect('put-limits', () => agent.putLimits({ params: { id: agentName(id) }, body: wanted }))
}

async function sendLimits(
  shard: ObservedShard,
  database: Database,
  orders: readonly LimitOrder[],
  ports: EngineConnections<'tryOn'> & EffectRunner & Log,
): Promise<void> {
  const { id, address } = shard
  // The plan notices a dead engine; a busy one is asked again in the next turn.
  await ports.engines.tryOn(database, { id, ...address }, async (engine) => {
    await obey(engine, orders, ports)
    ports.log.info({ database: database.uid, shard: id, orders }, 'an engine has another limit')
  })
}

/** Gives an engine the limit for a group with others, before it gets a follower or takes over. */
export async function setLimits(
  engine: EngineConnection,
  limits: Limits,
  ports: EffectRunner & Log,
): Promise<void> {
  const memory = readEngineMemory(readInfo(await engine.info()))
  await obey(engine, limitOrders(memory, limits, true), ports)
}

/** Raises the limit of an engine for a backlog that will grow. */
export async function makeRoom(
  engine: EngineConnection,
  { shareBytes }: Pick<ObservedGroup['limits'], 'shareBytes'>,
  backlogBytes: number,
  { effect }: EffectRunner,
): Promise<void> {
  const { limitBytes } = readEngineMemory(readInfo(await engine.info('memory')))
  const wanted = engineLimit(shareBytes, backlogBytes)
  if (isAtLeast(limitBytes, wanted)) return
  await effect('set-limit', () => engine.call('CONFIG', 'SET', 'maxmemory', wanted))
}

async function obey(
  engine: EngineConnection,
  orders: readonly LimitOrder[],
  { effect, log }: EffectRunner & Log,
): Promise<void> {
  try {
    for (const [setting, value] of orders)
      await effect('set-limit', () => engine.call('CONFIG', 'SET', setting, value))
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause
    log.warn({ err: cause, port: engine.address.port }, 'an engine does not take its limit')
  }
}

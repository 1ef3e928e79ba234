import { type EffectRunner, type EngineConnection, EngineError, readInfo } from '@fairlead/engine'
import {
  type CountedMemory,
  isAtLeast,
  isOverLimit,
  type LimitOrder,
  limitOrders,
  nextLimitDown,
} from '../../core/plan/limit-orders.ts'
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
import type { EngineConnections, Log, NodeAgent, PassingTime } from '../turn/ports.ts'
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
  ports: NodeAgent<'putLimits'> & EngineConnections<'tryOn'> & EffectRunner & PassingTime & Log,
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
  ports: EngineConnections<'tryOn'> & EffectRunner & PassingTime & Log,
): Promise<void> {
  const { id, address } = shard
  // The plan notices a dead engine; a busy one is asked again in the next turn.
  await ports.engines.tryOn(database, { id, ...address }, async (engine) => {
    // A replica evicts only with its primary.
    const withinMs = shard.engine?.role === 'replica' ? 0 : LOWER_FOR_MS
    const isWhole = await obey(engine, orders, ports, withinMs)
    if (isWhole) ports.log.info({ database: database.uid, shard: id, orders }, 'an engine has another limit')
  })
}

/** Gives an engine the limit for a group with others, before it gets a follower or takes over. */
export async function setLimits(
  engine: EngineConnection,
  limits: Limits,
  ports: EffectRunner & PassingTime & Log,
): Promise<void> {
  const memory = readEngineMemory(readInfo(await engine.info()))
  await obey(engine, limitOrders(memory, limits, true), ports, 0)
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

/** Returns false if a limit is not reached yet: it goes down in steps, for a part of each turn. */
async function obey(
  engine: EngineConnection,
  orders: readonly LimitOrder[],
  { effect, time, log }: EffectRunner & PassingTime & Log,
  withinMs: number,
): Promise<boolean> {
  const set = (setting: string, value: string) =>
    effect('set-limit', () => engine.call('CONFIG', 'SET', setting, value))
  try {
    for (const [setting, value] of orders)
      if (setting !== 'maxmemory') await set(setting, value)
      else if (!(await lower(engine, Number(value), { set, time, withinMs }))) return false
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause
    log.warn({ err: cause, port: engine.address.port }, 'an engine does not take its limit')
  }
  return true
}

interface Lowering extends PassingTime {
  readonly set: (setting: 'maxmemory', value: string) => Promise<unknown>
  /** Ms in which steps are made; 0: one. */
  readonly withinMs: number
}

/** Other work of a turn waits for this long at most. */
const LOWER_FOR_MS = 500
const STEP_EVERY_MS = 50

/** Sets a limit; returns whether it is reached. One below what is used is approached in steps. */
async function lower(
  engine: EngineConnection,
  wanted: number,
  { set, time, withinMs }: Lowering,
): Promise<boolean> {
  const until = time.elapsed() + withinMs
  for (;;) {
    const counted = await readCounted(engine)
    const isDown = wanted !== 0 && (counted.limitBytes === 0 || wanted < counted.limitBytes)
    const next = isDown ? nextLimitDown(counted, wanted) : wanted
    if (next !== undefined) await set('maxmemory', String(next))
    if (next === wanted) return true
    if (time.elapsed() >= until) return false
    await time.pause(STEP_EVERY_MS)
  }
}

async function readCounted(engine: EngineConnection): Promise<CountedMemory> {
  const fields = readInfo(await engine.info('memory'))
  const numberIn = (name: string) => Number(fields[name] ?? 0)
  const countedBytes = numberIn('used_memory') - numberIn('mem_not_counted_for_evict')
  return { limitBytes: numberIn('maxmemory'), countedBytes }
}

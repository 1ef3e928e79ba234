import { engineLimit, type Limits } from '../state/engine-memory.ts'
import type { EngineMemory } from '../state/topology.ts'

/** A setting of an engine, and its wanted value. */
export type LimitOrder = readonly [setting: 'maxmemory' | 'maxmemory-policy', value: string]

/**
 * The settings that make an engine respect the limits of its database, in an order in which nothing is evicted meanwhile: more memory first, then the
 * policy, then less memory. Empty: it has them already. `isFollowed`: others belong to its group, so it has a backlog, or will have one.
 *
 * A limit below the data of the clients makes an engine evict keys or refuse writes: it is set so low only under a policy that lets any
 * key be evicted at any time. Under every other policy it is lowered when the data fits, and not before.
 */
export function limitOrders(
  memory: EngineMemory,
  { shareBytes, evictionPolicy }: Limits,
  isFollowed: boolean,
): readonly LimitOrder[] {
  const wanted = engineLimit(shareBytes, isFollowed || memory.hasBacklog ? memory.backlogBytes : 0)
  const limit: LimitOrder = ['maxmemory', String(wanted)]
  const policy: readonly LimitOrder[] =
    memory.evictionPolicy === evictionPolicy ? [] : [['maxmemory-policy', evictionPolicy]]
  if (wanted === memory.limitBytes) return policy
  if (isAtLeast(wanted, memory.limitBytes)) return [limit, ...policy]
  const mayShrink = mayEvictAnything(evictionPolicy) || memory.dataBytes <= shareBytes
  return mayShrink ? [...policy, limit] : policy
}

/** Whether an engine keeps a higher limit than its database grants, because its data do not fit yet: it is asked again later. */
export function isOverLimit(memory: EngineMemory, limits: Limits, isFollowed: boolean): boolean {
  const orders = limitOrders(memory, limits, isFollowed)
  const wanted = engineLimit(limits.shareBytes, isFollowed || memory.hasBacklog ? memory.backlogBytes : 0)
  return wanted !== memory.limitBytes && !orders.some(([setting]) => setting === 'maxmemory')
}

/** Compares limits, where 0 is unlimited. */
export function isAtLeast(limit: number, other: number): boolean {
  return limit === 0 || (other !== 0 && limit >= other)
}

/** Under this policy no client can count on any key. */
export function mayEvictAnything(evictionPolicy: string): boolean {
  return evictionPolicy.startsWith('allkeys-')
}

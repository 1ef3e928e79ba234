import { engineLimit, type Limits } from '../state/engine-memory.ts'
import type { EngineMemory } from '../state/topology.ts'

/** A setting of an engine, and its wanted value. */
export type LimitOrder = readonly [setting: 'maxmemory' | 'maxmemory-policy', value: string]

/**
 * What makes an engine keep what its database grants it, in the order in which nothing is evicted on the way: room first, then the
 * policy, then less room. Empty: it does already. `isFollowed`: others belong to its group, so it has a backlog, or will.
 *
 * A limit that is lowered below what the clients have makes an engine evict or refuse: that is left to the policies under which any
 * key may go at any time. Under every other one it is lowered when the data fits, and not before.
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

/** An engine keeps more than its database grants it until its data fit: it is asked again then. */
export function isOverLimit(memory: EngineMemory, limits: Limits, isFollowed: boolean): boolean {
  const orders = limitOrders(memory, limits, isFollowed)
  const wanted = engineLimit(limits.shareBytes, isFollowed || memory.hasBacklog ? memory.backlogBytes : 0)
  return wanted !== memory.limitBytes && !orders.some(([setting]) => setting === 'maxmemory')
}

/** Of limits, where 0 is unlimited. */
export function isAtLeast(limit: number, other: number): boolean {
  return limit === 0 || (other !== 0 && limit >= other)
}

/** Under this policy no client can count on any key. */
export function mayEvictAnything(evictionPolicy: string): boolean {
  return evictionPolicy.startsWith('allkeys-')
}

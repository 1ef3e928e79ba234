import { engineLimit, type Limits } from '../state/engine-memory.ts'
import type { EngineMemory } from '../state/topology.ts'

/** A setting of an engine, and its wanted value. */
export type LimitOrder = readonly [setting: 'maxmemory' | 'maxmemory-policy', value: string]

/**
 * Returns the settings that make an engine respect its database's limits; empty if it does. Their order
 * evicts nothing on the way: more memory, then the policy, then less memory. A limit below the clients' data
 * causes evictions or refused writes, so it is set only under a policy that may evict any key; otherwise it
 * is lowered once the data fits. `isFollowed`: its group has other shards, so it has or will have a backlog.
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

/** True if an engine keeps a higher limit than its database grants, because its data do not fit yet. */
export function isOverLimit(memory: EngineMemory, limits: Limits, isFollowed: boolean): boolean {
  const orders = limitOrders(memory, limits, isFollowed)
  const wanted = engineLimit(limits.shareBytes, isFollowed || memory.hasBacklog ? memory.backlogBytes : 0)
  return wanted !== memory.limitBytes && !orders.some(([setting]) => setting === 'maxmemory')
}

/** Measured with valkey 9.1, 60,000 keys of 1 kB: with 600 keys each 50 ms clients notice nothing. */
const STEP_BYTES = 512 * 1024

/** What an engine compares with its limit, in bytes. */
export interface CountedMemory {
  /** `maxmemory`; 0 is unlimited. */
  readonly limitBytes: number
  readonly countedBytes: number
}

/**
 * Returns the next limit on the way down to `wanted`; undefined while the engine still evicts for the last
 * one. An engine evicts for a part of each command, so all keys at once would slow every client for as long.
 */
export function nextLimitDown(
  { limitBytes, countedBytes }: CountedMemory,
  wanted: number,
): number | undefined {
  if (limitBytes !== 0 && countedBytes > limitBytes) return undefined
  const from = limitBytes === 0 ? countedBytes : Math.min(limitBytes, countedBytes)
  return Math.max(wanted, from - STEP_BYTES)
}

/** Compares limits; 0 is unlimited. */
export function isAtLeast(limit: number, other: number): boolean {
  return limit === 0 || (other !== 0 && limit >= other)
}

/** True if no client can rely on any key under this policy. */
export function mayEvictAnything(evictionPolicy: string): boolean {
  return evictionPolicy.startsWith('allkeys-')
}

import type { Build } from '@fairlead/api'
import { describeProcess } from './goal.ts'
import type { Group } from './group.ts'
import type { LiveShard, Verdict } from './topology.ts'

/**
 * Does the data fit the successor? Builds differ: many small keys take twice as much on redis 8.0 as on valkey 9.1. As a replica the successor
 * evicts and refuses nothing, but from its promotion on it would, and Fairlead would have caused that loss. So it
 * does not take over. A primary that is at its limit itself is no obstacle, if its successor needs no more than the primary.
 */
export interface SuccessorMemory {
  /** `wait`: there is no room together with the connections that its primary has right now; that may change. */
  readonly verdict: 'fits' | 'near' | 'wait' | 'too-large'
  /** For people; '' when it fits. */
  readonly why: string
}

/** Two processes with the same data may differ by this much. */
const SAME_BYTES = 512 * 1024
const SAME_SHARE = 0.01
/** From this share of the limit on, a warning is given. */
const NEAR = 0.95

/**
 * Whether the data of the group, and its clients, fit the successor's memory; bytes are compared as both engines measure
 * them.
 */
export function judgeSuccessor(
  successor: LiveShard,
  { goal, primary, seen }: Omit<Group, 'replicas'>,
): SuccessorMemory {
  const { shareBytes } = seen.limits
  if (shareBytes === 0) return fits
  const [before, after] = [primary.engine.memory, successor.engine.memory]
  const data = after.dataBytes - after.clientBytes
  const needed = data + before.clientBytes
  const same = Math.max(SAME_BYTES, shareBytes * SAME_SHARE)
  if (needed <= before.dataBytes + same) return fits
  const words = `the data takes ${mb(needed)} MB on ${describeProcess(successor.wanted)} (shard ${successor.id}), ${mb(before.dataBytes)} MB on ${describeProcess(primary.wanted)}, and ${mb(shareBytes)} MB are allowed`
  if (needed <= shareBytes * NEAR) return fits
  if (needed <= shareBytes) return { verdict: 'near', why: `${words}: raise memory_size soon` }
  const enough = Math.ceil((needed * goal.groups) / NEAR / MB) * MB
  const why = `${words}: after a handover it would refuse writes or evict keys; set memory_size to ${enough} or more, and ask again`
  return { verdict: data > shareBytes ? 'too-large' : 'wait', why }
}

/**
 * How many times as much memory the same data may take on `to` as on `from`. Measured with 400,000 small keys: to redis
 * 8.0 from valkey 9.1 2.0 times, from valkey 8.1 1.5 times, from redis 7.0 1.06 times. Later valkeys take less.
 */
export function mostGrowth(from: Build, to: Build): number {
  return from.flavour === 'valkey' && to.flavour !== 'valkey' ? 2 : 1.06
}

/** Why a successor may not take over for lack of memory, as a verdict; undefined when it may. */
export function planRoom(successor: LiveShard, group: Group): Verdict | undefined {
  const { verdict, why } = judgeSuccessor(successor, group)
  if (verdict === 'too-large') return { kind: 'hopeless', code: 'memory_size', why }
  if (verdict === 'wait') return { kind: 'wait', shard: successor.id, code: 'memory_size', why }
  return undefined
}

const fits: SuccessorMemory = { verdict: 'fits', why: '' }

const MB = 1_000_000
const mb = (bytes: number) => (bytes < 100 * MB ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / MB))

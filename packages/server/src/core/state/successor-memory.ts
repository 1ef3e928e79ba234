import type { Build } from '@fairlead/api'
import { describeProcess } from './goal.ts'
import type { Group } from './group.ts'
import type { LiveShard, Verdict } from './topology.ts'

/**
 * If the data fits a successor's memory. Builds differ: many small keys take twice as much on Redis 8.0 as on
 * Valkey 9.1. After its promotion the successor would evict or refuse, and Fairlead would have caused that
 * loss; a primary at its limit is no obstacle if its successor needs no more.
 */
export interface SuccessorMemory {
  /** `wait`: no room together with its primary's present connections; that may change. */
  readonly verdict: 'fits' | 'near' | 'wait' | 'too-large'
  /** For people; '' if it fits. */
  readonly why: string
}

/** Possible difference between two processes with the same data. */
const SAME_BYTES = 512 * 1024
const SAME_SHARE = 0.01
/** Share of the limit above which a warning is given. */
const NEAR = 0.95

/** Checks that the group's data and clients fit the successor's memory, as measured by both engines. */
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
 * Returns the maximum growth of the same data from `from` to `to`. Measured with 400,000 small keys: to Redis
 * 8.0 from Valkey 9.1 2.0 times, from Valkey 8.1 1.5 times, from Redis 7.0 1.06 times. Later Valkeys take
 * less.
 */
export function mostGrowth(from: Build, to: Build): number {
  return from.flavour === 'valkey' && to.flavour !== 'valkey' ? 2 : 1.06
}

/** Returns why a successor may not take over for lack of memory, as a verdict; or undefined. */
export function planRoom(successor: LiveShard, group: Group): Verdict | undefined {
  const { verdict, why } = judgeSuccessor(successor, group)
  if (verdict === 'too-large') return { kind: 'hopeless', code: 'memory_size', why }
  if (verdict === 'wait') return { kind: 'wait', shard: successor.id, code: 'memory_size', why }
  return undefined
}

const fits: SuccessorMemory = { verdict: 'fits', why: '' }

const MB = 1_000_000
const mb = (bytes: number) => (bytes < 100 * MB ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / MB))

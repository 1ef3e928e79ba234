import { act, type Group, howFar, progressOf } from '../state/group.ts'
import type { LiveShard, ObservedShard, Verdict } from '../state/topology.ts'
import { whyLessKept, whyNotGivenUp } from './kept-on-disk.ts'

/** The clock of a process counts whole seconds here. */
const CLOCK_MS = 1_000
/** Maximum age of an agent's look. */
const LONGEST_LOOK_MS = 60_000

/** Plans what comes before a takeover, so that the data on the primary's disk are on the successor's disk. */
export function planKeptBy(successor: LiveShard, { goal, primary }: Group): Verdict | undefined {
  const why = whyLessKept(successor, primary, primary, goal.persistence)
  return why === undefined ? undefined : planSaving(successor, why, goal.persistence)
}

/** Removes `shard`, after the data on its disk are on the primary's disk. */
export function retire(shard: ObservedShard, why: string, group: Group): Verdict {
  return planKeptOf(shard, group) ?? act({ kind: 'retire-shard', shard: shard.id, why })
}

function planKeptOf(shard: ObservedShard, { goal, primary }: Group): Verdict | undefined {
  const why = whyNotGivenUp(shard, primary, goal.persistence)
  return why === undefined ? undefined : planSaving(primary, why, goal.persistence)
}

/** Plans a snapshot for a promoted primary without one while another disk has one: before any save point. */
export function planSnapshot(group: Group): Verdict | undefined {
  const { disk } = group.primary
  if (group.goal.persistence !== 'snapshot' || disk === null || disk.snapshot !== null) return undefined
  return group.replicas.map((shard) => planKeptOf(shard, group)).find((verdict) => verdict !== undefined)
}

function planSaving(
  { id, engine, disk, trouble }: LiveShard,
  why: string,
  persistence: 'disabled' | 'aof' | 'snapshot',
): Verdict {
  const wait = (words: string): Verdict => ({
    kind: 'wait',
    shard: id,
    code: 'saving',
    why: `shard ${id} ${words}`,
    ...progressOf(engine),
  })
  if (persistence === 'aof') {
    if (engine.aof === 'rewriting') return wait(`writes its append-only file${howFar(engine)}`)
    return act({ kind: 'enable-aof', shard: id, why })
  }
  const { state, lastAt } = engine.saving
  if (state === 'writing') return wait(`writes a snapshot${howFar(engine)}: ${why}`)
  const step = { kind: 'save-snapshot', shard: id, why } as const
  if (state === 'failed') {
    const words = trouble === '' ? '' : ` (its log: ${trouble})`
    // Data that are not on disk could be lost: this step is never skipped, and is retried until there is
    // room.
    return {
      kind: 'stuck',
      code: 'save_failed',
      why: `shard ${id} cannot write a snapshot: ${why}${words}`,
      retry: step,
    }
  }
  const behindMs = lastAt === null ? 0 : lastAt + CLOCK_MS - (disk?.lookedAt ?? 0)
  // An agent looks every second: if its look is much older than the snapshot, the clock was set back.
  const isUnseen = behindMs > 0 && behindMs < LONGEST_LOOK_MS
  return isUnseen ? wait('has written a snapshot, which its agent is to find') : act(step)
}

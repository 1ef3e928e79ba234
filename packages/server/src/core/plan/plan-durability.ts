import { act, type Group, howFar, progressOf } from '../state/group.ts'
import type { LiveShard, ObservedShard, Verdict } from '../state/topology.ts'
import { whyLessKept, whyNotGivenUp } from './kept-on-disk.ts'

/** The clock of a process counts whole seconds here. */
const CLOCK_MS = 1_000
/** So old no look of an agent is. */
const LONGEST_LOOK_MS = 60_000

/** Before `successor` takes over: what the primary has on disk is on the disk of the successor, too. Undefined when it is. */
export function planKeptBy(successor: LiveShard, { goal, primary }: Group): Verdict | undefined {
  const why = whyLessKept(successor, primary, primary, goal.persistence)
  return why === undefined ? undefined : planSaving(successor, why, goal.persistence)
}

/** Takes `shard` away for good; before, what it has on disk is on the disk of the primary. */
export function retire(shard: ObservedShard, why: string, group: Group): Verdict {
  return planKeptOf(shard, group) ?? act({ kind: 'retire-shard', shard: shard.id, why })
}

function planKeptOf(shard: ObservedShard, { goal, primary }: Group): Verdict | undefined {
  const why = whyNotGivenUp(shard, primary, goal.persistence)
  return why === undefined ? undefined : planSaving(primary, why, goal.persistence)
}

/** A primary that was promoted without a snapshot does not wait for its first save point while another disk has one. */
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
    ...{ kind: 'wait', shard: id, code: 'saving', why: `shard ${id} ${words}` },
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
    // What it has not on disk it cannot keep: this is never skipped, and tried again until there is room.
    return {
      kind: 'stuck',
      code: 'save_failed',
      why: `shard ${id} cannot write a snapshot: ${why}${words}`,
      retry: step,
    }
  }
  const behindMs = lastAt === null ? 0 : lastAt + CLOCK_MS - (disk?.lookedAt ?? 0)
  // An agent looks every second: where its look is much older than the snapshot, the clock was set back meanwhile.
  const isUnseen = behindMs > 0 && behindMs < LONGEST_LOOK_MS
  return isUnseen ? wait('has written a snapshot, which its agent is to find') : act(step)
}

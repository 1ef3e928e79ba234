import { readdirSync, readFileSync } from 'node:fs'
import { parseStat, type ThreadStat } from './process-identity.ts'
import { readOrNull } from './read-or-null.ts'

/**
 * Activity of a process that does not answer. `works`: it uses the processor, or waits for it; `disk`: it
 * waits for a disk (or for swapped-out memory). `stopped`: by a signal or a debugger; `idle`: none of these.
 */
export type ActivityKind = 'works' | 'disk' | 'stopped' | 'idle'

/** Activity of a process that does not answer, with its idle time. */
export interface Activity {
  readonly doing: ActivityKind
  /** Idle or stopped time in ms: a gap between two looks counts as at most LONGEST_GAP_MS. */
  readonly idleMs: number
}

/** Repeatedly looks at one process. */
export interface ActivityWatch {
  /** Looks at the process with this pid; null if it is gone. `now`: performance.now(). */
  look(pid: number, now: number): Activity | null
  /** Call when it has answered, or another process will be watched. */
  forget(): void
}

/** The agent may have stalled itself, and then knows nothing of the time in between. */
export const LONGEST_GAP_MS = 2_500

/** The kernel counts processor time in hundredths of a second, on every machine. */
const TICK_MS = 10

/**
 * Other threads free memory and sync files, and are sometimes active in a process that hangs. They count from
 * this share of one processor, because modules work in such threads.
 */
const WORK_OF_OTHERS = 0.1

/** Compares the threads' processor time between two looks. `readThreads` returns null without a process. */
export function watchActivity(
  readThreads: (pid: number) => readonly ThreadStat[] | null = threadsOf,
): ActivityWatch {
  let before: { readonly at: number; readonly first: number; readonly others: number } | null = null
  let idleMs = 0
  return {
    look(pid, now) {
      const threads = readThreads(pid)
      const [first, ...rest] = threads ?? []
      if (first === undefined) return null
      const others = rest.reduce((sum, { ticks }) => sum + ticks, 0)
      const gapMs = before === null ? 0 : now - before.at
      const used =
        before !== null &&
        (first.ticks > before.first || (others - before.others) * TICK_MS > gapMs * WORK_OF_OTHERS)
      before = { at: now, first: first.ticks, others }
      const doing = describe(first.state, rest, used)
      idleMs = doing === 'idle' || doing === 'stopped' ? idleMs + Math.min(gapMs, LONGEST_GAP_MS) : 0
      return { doing, idleMs }
    },
    forget() {
      before = null
      idleMs = 0
    },
  }
}

function describe(state: string, others: readonly ThreadStat[], used: boolean): ActivityKind {
  if (/[Tt]/.test(state)) return 'stopped'
  if (used || state === 'R') return 'works'
  // Its first thread may wait for another one, which waits for the disk.
  if (state === 'D' || others.some((thread) => thread.state === 'D')) return 'disk'
  return 'idle'
}

/** Returns the threads, first the one with the process's id. */
function threadsOf(pid: number): readonly ThreadStat[] | null {
  const ids = readOrNull(() => readdirSync(`/proc/${pid}/task`))
  if (ids === null) return null
  const sorted = ids.toSorted((a, b) => Number(b === String(pid)) - Number(a === String(pid)))
  const threads = sorted.flatMap((id) => {
    const text = readOrNull(() => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'))
    return text === null ? [] : [parseStat(text)]
  })
  return threads.length === 0 ? null : threads
}

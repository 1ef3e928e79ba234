import { readdirSync, readFileSync } from 'node:fs'
import { parseStat, type ThreadStat } from './process-identity.ts'
import { readOrNull } from './read-or-null.ts'

/**
 * What a process does that does not answer. `works`: it uses the processor, or waits for its turn on it.
 * `disk`: it waits for a disk (or for memory that was swapped out). `stopped`: a signal or a debugger holds
 * it. `idle`: none of these.
 */
export type Doing = 'works' | 'disk' | 'stopped' | 'idle'

/** What a process does that does not answer. */
export interface Activity {
  readonly doing: Doing
  /** For how long it has been idle or stopped, in milliseconds: what lies between two looks counts for LONGEST_GAP_MS at most. */
  readonly idleMs: number
}

/** Looks repeatedly at one process. */
export interface ActivityWatch {
  /** Looks at the process with this pid. `now` by performance.now(). Null when it is gone. */
  look(pid: number, now: number): Activity | null
  /** It has answered, or another process is watched from now on. */
  forget(): void
}

/** The agent may have stalled itself: then it knows nothing of the time in between. */
export const LONGEST_GAP_MS = 2_500

/** The kernel tells processor time in hundredths of a second, on every machine. */
const TICK_MS = 10

/**
 * The other threads free memory and sync files, and are active now and then in a process that hangs: they count from this share
 * of one processor on. Modules work in such threads.
 */
const WORK_OF_OTHERS = 0.1

/** Compares the processor time of threads between two looks. `readThreads` answers null when the process is gone. */
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

function describe(state: string, others: readonly ThreadStat[], used: boolean): Doing {
  if (/[Tt]/.test(state)) return 'stopped'
  if (used || state === 'R') return 'works'
  // Its first thread may wait for another one, which waits for the disk.
  if (state === 'D' || others.some((thread) => thread.state === 'D')) return 'disk'
  return 'idle'
}

/** The first thread comes first: its id is that of the process. */
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

import type { LoopTurns } from '@fairlead/api/of-proxies'
import type { Breadcrumb } from './breadcrumb.ts'

/** What the kernel reports about a thread: the processor time that it has used, and its state (R, S, D, T, t). */
export interface ThreadUse {
  readonly cpuMs: number
  readonly state: string
}

/** Looks repeatedly at one loop. */
export interface LoopWatch {
  /** `now` is performance.now(). `use` is called only if the turn is the same as at the last look. */
  look(crumb: Breadcrumb, now: number, use: () => ThreadUse | null): LoopTurns
}

/** The heartbeat thread may have been stopped, with the rest of the machine: then nothing is known about the time in between. */
export const LONGEST_GAP_MS = 2_500

/** How long a loop has been in one turn, and how it spent that time. */
export function watchLoop(loop: string): LoopWatch {
  let turns = -1
  let sinceMs = 0
  let lastMs = 0
  let first: ThreadUse | null = null
  let lastCpuMs = 0
  let idleMs = 0
  return {
    look(crumb, now, use) {
      const { doing } = crumb
      if (crumb.turns !== turns) {
        turns = crumb.turns
        sinceMs = now
        lastMs = now
        first = null
        idleMs = 0
        return { loop, turns, doing, turnMs: 0, cpuMs: 0, idleMs: 0 }
      }
      const seen = use()
      if (seen !== null) {
        const isIdle = first !== null && seen.cpuMs === lastCpuMs && /[STt]/.test(seen.state)
        idleMs = isIdle ? idleMs + Math.min(now - lastMs, LONGEST_GAP_MS) : 0
        lastCpuMs = seen.cpuMs
        first ??= seen
      }
      lastMs = now
      const cpuMs = lastCpuMs - (first?.cpuMs ?? lastCpuMs)
      return { loop, turns, doing, turnMs: Math.round(now - sinceMs), cpuMs, idleMs: Math.round(idleMs) }
    },
  }
}

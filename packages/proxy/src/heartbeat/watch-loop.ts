import type { LoopTurns } from '@fairlead/api/of-proxies'
import type { Breadcrumb } from './breadcrumb.ts'

/** Processor time and state (R, S, D, T, t) of a thread, from the kernel. */
export interface ThreadUse {
  readonly cpuMs: number
  readonly state: string
}

/** Observes one loop. */
export interface LoopWatch {
  /** `now`: performance.now(). `use` is called only if the turn is the same as before. */
  look(crumb: Breadcrumb, now: number, use: () => ThreadUse | null): LoopTurns
}

/** The heartbeat thread may have been stopped with the machine: a longer gap is not counted as idle time. */
export const LONGEST_GAP_MS = 2_500

/** Measures how long a loop has been in one turn, and how that time was spent. */
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

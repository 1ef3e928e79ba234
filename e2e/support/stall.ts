import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'

/** The processes that can be stalled in a handover. */
export const parties = ['server', 'successor', 'primary', 'proxy', 'agent'] as const
export type Party = (typeof parties)[number]

/** Stops a process (SIGSTOP) at a point of a handover, as `onEffect` names it; it is resumed after `ms`. */
export interface Stall {
  readonly at: string
  readonly who: Party
  readonly ms: number
}

export interface Stalls {
  /** A handover begins, between these shards. */
  begin(primary: string, successor: string): void
  /** An effect is about to happen, or has happened. */
  at(point: string): void
}

/**
 * Carries out `list` (JSON of Stall[]) one after the other, at most one a handover. Each is written to `log`
 * when it happens. Null when nothing is to be stalled.
 */
export function createStalls(
  list: string | undefined,
  log: string | undefined,
  pidOf: (who: string) => number,
): Stalls | null {
  if (list === undefined || log === undefined) return null
  const due = JSON.parse(list) as Stall[]
  let roles = { primary: '', successor: '' }
  let isArmed = false
  return {
    begin(primary, successor) {
      roles = { primary, successor }
      isArmed = true
    },
    at(point) {
      const [next] = due
      if (!isArmed || next?.at !== point) return
      due.shift()
      isArmed = false
      const { who, ms } = next
      appendFileSync(log, `${point}: ${who}\n`)
      stop(pidOf(who === 'primary' || who === 'successor' ? roles[who] : who), ms)
    },
  }
}

/**
 * Another process resumes it, because the stopped process may be this one. It first sees it stopped: on a
 * busy machine that may take longer than the stall.
 */
function stop(pid: number, ms: number): void {
  const isStopped = `grep -q '^State:.T' /proc/${pid}/status`
  const script = `while [ -e /proc/${pid} ] && ! ${isStopped}; do sleep 0.01; done; sleep ${ms / 1_000}; kill -CONT ${pid}`
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref()
  process.kill(pid, 'SIGSTOP')
}

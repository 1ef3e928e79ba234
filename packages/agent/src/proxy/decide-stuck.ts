import type { LoopTurns } from '@fairlead/api'

/**
 * A turn of a healthy loop takes milliseconds; the longest that was ever seen of a loop that went on took 8 s of processor time, before
 * turns were bounded. Half of hungAfterMs, which is 20 s.
 */
const STUCK_SHARE = 0.5

/**
 * Why the loop that is stuck is so, in one piece of work that will not end; undefined: none is. Time that the loop had no processor for does not
 * count: on a loaded machine, stopped, or waiting for a disk, a loop is slow, and will go on.
 */
export function whyStuck(loops: readonly LoopTurns[], hungAfterMs: number): string | undefined {
  for (const loop of loops) {
    const { cpuMs, idleMs } = loop
    if (cpuMs >= hungAfterMs * STUCK_SHARE)
      return `was stuck in one piece of work for ${seconds(cpuMs)} of processor time, and was killed: ${whatOf(loop)}`
    if (idleMs >= hungAfterMs)
      return `was stuck in one piece of work, in which it did nothing for ${seconds(idleMs)}, and was killed: ${whatOf(loop)}`
  }
  return undefined
}

/** The loop that has been in one turn for longest, in words; empty when all are in turns that are short. */
export function whySlow(loops: readonly LoopTurns[]): string {
  const [slowest] = loops.toSorted((a, b) => b.turnMs - a.turnMs)
  if (slowest === undefined || slowest.turnMs < LONG_MS) return 'its loops go on'
  const { turnMs, cpuMs } = slowest
  return `one piece of work has taken ${seconds(turnMs)}, and ${seconds(cpuMs)} of processor time: ${whatOf(slowest)}`
}

const LONG_MS = 1_000

function whatOf({ loop, doing }: LoopTurns): string {
  return `${loop} ${doing === '' ? 'does something that has no name' : doing}`
}

/** Milliseconds as people read them: tenths of a second below ten seconds, whole seconds above. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

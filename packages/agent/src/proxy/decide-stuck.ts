import type { LoopTurns } from '@fairlead/api'

/**
 * A turn of a healthy loop takes ms; the longest ever seen that ended took 8 s of processor time, before
 * turns were limited. This is half of hungAfterMs (20 s).
 */
const STUCK_SHARE = 0.5

/**
 * Returns why a loop is stuck in one endless piece of work; undefined if none is. Time without a processor
 * does not count: on a loaded machine, stopped, or waiting for a disk, a loop is slow, but continues.
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

/** Describes the loop with the longest current turn. */
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

/** Formats ms for people: tenths of a second below ten seconds, whole seconds above. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@fairlead/engine'

/** After these pauses, a machine with a short lack of processes or memory has recovered. */
const PAUSES_MS = [250, 500, 1_000, 2_000]
/** A trial that took too long is not repeated: its caller cannot wait much longer. */
const WITHIN_MS = 10_000

/** Repeats a trial until it succeeds, at most five times. Returns its failure, or undefined. */
export async function tryAgain(attempt: () => Promise<string | undefined>): Promise<string | undefined> {
  const until = performance.now() + WITHIN_MS
  for (let n = 0; ; n += 1) {
    const fault = await attempt().catch(messageOf)
    const pauseMs = PAUSES_MS[n]
    if (fault === undefined || pauseMs === undefined || performance.now() > until) return fault
    await pause(pauseMs)
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@fairlead/engine'

/** A machine that lacks processes or memory for a moment has them again by then. */
const PAUSES_MS = [250, 500, 1_000, 2_000]
/** A try that was late is not made again: what waits for it does not wait much longer. */
const WITHIN_MS = 10_000

/** Makes a try until nothing is at fault, five times at most. Answers what is (the message of what it threw); undefined: nothing. */
export async function tryAgain(attempt: () => Promise<string | undefined>): Promise<string | undefined> {
  const until = performance.now() + WITHIN_MS
  for (let n = 0; ; n += 1) {
    const fault = await attempt().catch(messageOf)
    const pauseMs = PAUSES_MS[n]
    if (fault === undefined || pauseMs === undefined || performance.now() > until) return fault
    await pause(pauseMs)
  }
}

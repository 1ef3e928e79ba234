import { setImmediate } from 'node:timers/promises'
import type { InSteps } from '../../core/carry-over/in-steps.ts'

/** Runs steps for 5 ms at a time, so that other databases and requests have their turn in between. */
export async function inPieces<Result>(work: InSteps<Result>): Promise<Result> {
  for (;;) {
    const until = performance.now() + PIECE_MS
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (performance.now() < until)
    await setImmediate()
  }
}

const PIECE_MS = 5

import { BroadcastChannel } from 'node:worker_threads'
import { beginPiece, endPiece, leaveBreadcrumbs } from './breadcrumb.ts'

/** Channel on which the heartbeat thread asks all loops of the process for a turn. */
export const TURNS_CHANNEL = 'fairlead turns'

/**
 * Makes this thread's loop write breadcrumbs to record `n` and take a turn when asked: an idle loop must not
 * count as stuck. Dispose to end.
 */
export function answerTurns(breadcrumbs: SharedArrayBuffer, n: number): Disposable {
  leaveBreadcrumbs(breadcrumbs, n)
  const channel = new BroadcastChannel(TURNS_CHANNEL)
  channel.onmessage = () => {
    beginPiece('')
    endPiece()
  }
  channel.unref()
  return { [Symbol.dispose]: () => channel.close() }
}

import { BroadcastChannel } from 'node:worker_threads'
import { beginPiece, endPiece, leaveBreadcrumbs } from './breadcrumb.ts'

/** On which the heartbeat thread asks all loops of the process for a turn. */
export const TURNS_CHANNEL = 'fairlead turns'

/**
 * This thread's loop leaves its breadcrumbs in record `n` from now on, and takes a turn whenever it is asked for one: one that has
 * nothing to do is not stuck. Disposing of it ends the answers.
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

import { BroadcastChannel } from 'node:worker_threads'
import { beginPiece, endPiece, leaveBreadcrumbs } from './breadcrumb.ts'

/** The channel on which the heartbeat thread asks all loops of the process for a turn. */
export const TURNS_CHANNEL = 'fairlead turns'

/**
 * From now on this thread's loop writes its breadcrumbs to record `n`, and takes a turn whenever it is asked for one: a loop that has
 * nothing to do must not count as stuck. Disposing of it ends the answers.
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

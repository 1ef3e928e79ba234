import type { PendingReply, Router } from './router.ts'

/** The most bytes kept for one client of requests that may have to be sent again. A request that is not kept is executed, too; but if its slot has moved, its client is told to try again. */
const LARGEST_BYTES = 1024 * 1024
/** The same for all clients of a thread, of all its endpoints. */
const MOST_BYTES = 128 * 1024 * 1024
/** This much is kept for each client, even if the bound of the thread is reached. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Keeper = Pick<Router, 'keptBytes' | 'closed'>

/** Whether a request of this many bytes may be kept. If so, it is counted. */
export function mayKeepRequest(router: Keeper, bytes: number): boolean {
  const most = thread.bytes + bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_BYTES
  if (router.closed || router.keptBytes + bytes > most) return false
  router.keptBytes += bytes
  thread.bytes += bytes
  return true
}

/** Called when a request does not have to be kept any more. */
export function forgetRequest(router: Keeper, pendingReply: Pick<PendingReply, 'request'>): void {
  const bytes = pendingReply.request?.length ?? 0
  pendingReply.request = null
  if (router.closed) return // none of it is counted any more
  router.keptBytes -= bytes
  thread.bytes -= bytes
}

/** Called when the connection of the client is closed. */
export function forgetRequests(router: Keeper): void {
  thread.bytes -= router.keptBytes
  router.keptBytes = 0
}

import type { PendingReply, Router } from './router.ts'

/**
 * Limit of requests kept for one client to be sent again. A request that is not kept is executed, but if its
 * slot has moved, the client is asked to retry.
 */
const LARGEST_BYTES = 1024 * 1024
/** Limit for all clients of a thread, across endpoints. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each client, even at the thread's limit. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Keeper = Pick<Router, 'keptBytes' | 'closed'>

/** Returns true if a request of this size may be kept, and counts it. */
export function mayKeepRequest(router: Keeper, bytes: number): boolean {
  const most = thread.bytes + bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_BYTES
  if (router.closed || router.keptBytes + bytes > most) return false
  router.keptBytes += bytes
  thread.bytes += bytes
  return true
}

/** Called when a request need not be kept any more. */
export function forgetRequest(router: Keeper, pendingReply: Pick<PendingReply, 'request'>): void {
  const bytes = pendingReply.request?.length ?? 0
  pendingReply.request = null
  if (router.closed) return // none of it is counted any more
  router.keptBytes -= bytes
  thread.bytes -= bytes
}

/** Called when the client's connection is closed. */
export function forgetRequests(router: Keeper): void {
  thread.bytes -= router.keptBytes
  router.keptBytes = 0
}

import type { PendingReply, Router } from './router.ts'

/** Of requests of one client that may have to be asked again. One that is not kept is carried out; where its slot has moved its client is told to try again. */
const LARGEST_BYTES = 1024 * 1024
/** The same of all clients of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 128 * 1024 * 1024
/** Of any client so much is kept, whatever others have sent. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Keeper = Pick<Router, 'keptBytes' | 'closed'>

/** Whether there is room to keep a request of so many bytes; it is counted then. */
export function mayKeepRequest(router: Keeper, bytes: number): boolean {
  const most = thread.bytes + bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_BYTES
  if (router.closed || router.keptBytes + bytes > most) return false
  router.keptBytes += bytes
  thread.bytes += bytes
  return true
}

/** It need not be kept any more. */
export function forgetRequest(router: Keeper, pendingReply: Pick<PendingReply, 'request'>): void {
  const bytes = pendingReply.request?.length ?? 0
  pendingReply.request = null
  if (router.closed) return // none of it is counted any more
  router.keptBytes -= bytes
  thread.bytes -= bytes
}

/** The client is closed. */
export function forgetRequests(router: Keeper): void {
  thread.bytes -= router.keptBytes
  router.keptBytes = 0
}

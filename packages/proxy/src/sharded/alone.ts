import { endRouter } from './close-router.ts'
import { letGoOnceRead } from './collected-replies.ts'
import { advance } from './order-replies.ts'
import { makeOwed, type Router } from './router.ts'
import { flushTold, tell } from './tell-client.ts'

/**
 * Does what concerns several groups, while nothing else is under way; what the client sends waits. `act` returns the
 * reply, or null when there is none. Must only be begun when nothing is owed.
 */
export function doAlone(router: Router, isSilent: boolean, act: () => Promise<Buffer | null>): void {
  router.gated = true
  router.busy = true
  void carryOut(router, isSilent, act)
}

async function carryOut(router: Router, isSilent: boolean, act: () => Promise<Buffer | null>): Promise<void> {
  try {
    const reply = await act()
    if (router.closed) return
    router.busy = false
    if (reply !== null && !isSilent) tell(router, reply, 0, reply.length)
    flushTold(router)
    letGoOnceRead(router)
    router.onReplies()
  } catch (cause) {
    endRouter(router, `ERR ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

/** A reply of our own, when its turn comes. */
export function answer(router: Router, reply: Buffer): void {
  if (!takeSilence(router)) {
    router.owed.push(makeOwed({ parts: [reply], done: true }))
    advance(router)
  }
}

/** Whether the client wants no reply to the command that is being routed. */
export function takeSilence(router: Router): boolean {
  const isSilent = router.silent || router.skipsNext
  router.skipsNext = false
  return isSilent
}

/** An error as RESP; `text` begins with its code and has no line break. */
export function errorReply(text: string): Buffer {
  return Buffer.from(`-${text}\r\n`, 'latin1')
}

/** The reply OK as RESP. */
export const ok = Buffer.from('+OK\r\n')
/** What engines in cluster mode answer to a request whose keys lie in several slots. */
export const crossSlot = errorReply("CROSSSLOT Keys in request don't hash to the same slot")

import { messageOf } from '@fairlead/engine'
import { endRouter } from './close-router.ts'
import { letGoOnceRead } from './collected-replies.ts'
import { advance } from './order-replies.ts'
import { flushOutgoing, queueForClient } from './outgoing.ts'
import { makePendingReply, type Router } from './router.ts'

/** The reply; null: there is none, or it has been sent already. `isSilent`: the client wants none. */
export type Act = (isSilent: boolean) => Promise<Buffer | null>

/**
 * Does work that concerns several groups, while nothing else is under way; the client's next bytes wait. `act` returns the
 * reply, or null when there is none. Must only be begun when no reply is pending.
 */
export function doExclusively(router: Router, isSilent: boolean, act: Act): void {
  router.gated = true
  router.busy = true
  void carryOut(router, isSilent, act)
}

async function carryOut(router: Router, isSilent: boolean, act: Act): Promise<void> {
  try {
    const reply = await act(isSilent)
    if (router.closed) return
    router.busy = false
    if (reply !== null && !isSilent) queueForClient(router, reply, 0, reply.length)
    flushOutgoing(router)
    letGoOnceRead(router)
    router.onReplies()
  } catch (cause) {
    endRouter(router, `ERR ${messageOf(cause)}`)
  }
}

/** Sends a reply of the proxy itself, when its turn comes. */
export function answer(router: Router, reply: Buffer): void {
  if (!takeSilence(router)) {
    router.pending.push(makePendingReply({ parts: [reply], done: true }))
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
/** The answer of engines in cluster mode to a request whose keys lie in several slots. */
export const crossSlot = errorReply("CROSSSLOT Keys in request don't hash to the same slot")

import { messageOf } from '@fairlead/engine'
import { endRouter } from './close-router.ts'
import { letGoOnceRead } from './collected-replies.ts'
import { advance } from './order-replies.ts'
import { flushOutgoing, queueForClient } from './outgoing.ts'
import { makePendingReply, type Router } from './router.ts'

/** Returns the reply; null if there is none, or it has been sent. `isSilent`: the client wants none. */
export type Act = (isSilent: boolean) => Promise<Buffer | null>

/**
 * Does work on several groups while no other request is pending; later bytes wait. `act` returns the reply or
 * null. Must begin without pending replies.
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

/** Queues a reply of the proxy. */
export function answer(router: Router, reply: Buffer): void {
  if (!takeReplyOff(router)) {
    router.pending.push(makePendingReply({ parts: [reply], done: true }))
    advance(router)
  }
}

/** Returns true if the client wants no reply to the present command. */
export function takeReplyOff(router: Router): boolean {
  const isSilent = router.session.silent || router.session.skipsNext
  router.session.skipsNext = false
  return isSilent
}

/** Encodes an error. `text` begins with its code and has no line break. */
export function errorReply(text: string): Buffer {
  return Buffer.from(`-${text}\r\n`, 'latin1')
}

/** The reply OK. */
export const ok = Buffer.from('+OK\r\n')
/** Cluster mode's answer to a request with keys of several slots. */
export const crossSlot = errorReply("CROSSSLOT Keys in request don't hash to the same slot")

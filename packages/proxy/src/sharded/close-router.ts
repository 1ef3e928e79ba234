import { isBetweenRequests, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { dropConnection } from '../connection/end-connection.ts'
import { viasOf } from '../listen/list-clients.ts'
import { type ConnectionState, isSubscribed } from '../remembered/connection-state.ts'
import { endUnread, UNREAD, watchUnread } from '../traffic/watch-unread.ts'
import { letGo } from './collected-replies.ts'
import { countPart } from './kept-parts.ts'
import { forgetRequests } from './kept-requests.ts'
import { flushOutgoing } from './outgoing.ts'
import type { Router } from './router.ts'

/**
 * Ends the client's connection after it has received all replies, with a last error if given. `why`: for the
 * log, if the client did not close.
 */
export function endRouter(router: Router, error?: string, why = error): void {
  if (router.closed) return
  const { client } = router
  flushOutgoing(router)
  if (error !== undefined && router.pending.first()?.begun !== true) client.write(`-${error}\r\n`)
  close(router, why)
  if (error === UNREAD) endUnread(client)
  else client.destroySoon()
}

/** Closes the client's connection immediately. `why`: see endRouter. */
export function dropRouter(router: Router, why?: string): void {
  if (router.closed) return
  close(router, why)
  router.client.destroy()
}

/** Ends a client that sends no more: after its replies, or immediately if it would only wait or listen. */
export function endIfAnswered(router: Router): void {
  const {
    closed,
    pending,
    busy,
    backends,
    input: { clientEnded, stash },
  } = router
  if (!clientEnded || closed) return
  const listens = backends.some(
    (backend) => backend !== undefined && onlyListens(backend.connection.session.state),
  )
  if ((listens && stash.length === 0) || (pending.size === 1 && pending.first()?.blocks === true))
    dropRouter(router)
  else if (!busy && pending.size === withoutReply(router) && stash.length === 0)
    endRouter(router, router.lastError || undefined)
}

/** If a paused client reads no reply for too long, drops its requests so that its socket is read again. */
export function watchUnreadReplies(router: Router): void {
  const { client, backends } = router
  const isExcused = () =>
    router.closed || backends.some((backend) => backend?.connection.link?.socket.writableNeedDrain === true)
  watchUnread(client, isExcused, () => {
    router.lastError = UNREAD
    // A partly sent request is not completed.
    router.input.clientEnded = true
    router.input.stash = []
    router.input.stashBytes = 0
    client.resume()
  })
}

/** Returns the number of pending replies that will not come, because the client left within their request. */
function withoutReply({ input: { requests, rest } }: Router): number {
  const isAtGroup = rest !== null && rest !== 'nowhere'
  return isAtGroup && !isBetweenRequests(requests) ? 1 : 0
}

/** Such a client gets messages without end: only its end shows that it has left. */
function onlyListens(state: ConnectionState): boolean {
  return isSubscribed(state) || state.unmovable !== undefined
}

function close(router: Router, why = ''): void {
  if (why !== '') noteCut(router, why)
  router.closed = true
  letGo(router)
  forgetRequests(router)
  router.input.stash = []
  takeGathered(router.input.part)
  countPart(router)
  router.diverted = []
  router.touched.clear()
  for (const connection of connectionsOf(router)) dropConnection(connection)
}

/** Counts the cut in each group that served the client. */
function noteCut(router: Router, why: string): void {
  const connections = connectionsOf(router)
  for (const { owner } of connections) owner.tape.noteCut()
  router.shards.onCut({ client: router.visitor.address, via: viasOf(connections), why })
}

/** Returns a client's connections to the groups that it has used. */
export function connectionsOf({ backends }: Router): Connection[] {
  return backends.flatMap((backend) => backend?.connection ?? [])
}

import { takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { dropConnection } from '../connection/end-connection.ts'
import { viasOf } from '../listen/list-clients.ts'
import { letGo } from './collected-replies.ts'
import { countPart } from './kept-parts.ts'
import { forgetRequests } from './kept-requests.ts'
import { flushOutgoing } from './outgoing.ts'
import type { Router } from './router.ts'

/**
 * Ends a client's connection after it has got all replies, with a last error if there is one. `why`: for the log, if the end is
 * not the client's wish.
 */
export function endRouter(router: Router, error?: string, why = error): void {
  if (router.closed) return
  const { client } = router
  flushOutgoing(router)
  if (error !== undefined && router.pending.first()?.begun !== true) client.write(`-${error}\r\n`)
  close(router, why)
  client.destroySoon()
}

/** Ends a client's connection at once; `why` as above. */
export function dropRouter(router: Router, why?: string): void {
  if (router.closed) return
  close(router, why)
  router.client.destroy()
}

function close(router: Router, why = ''): void {
  if (why !== '') noteCut(router, why)
  router.closed = true
  letGo(router)
  forgetRequests(router)
  router.stash = []
  takeGathered(router.part)
  countPart(router)
  router.diverted = []
  router.touched.clear()
  for (const connection of connectionsOf(router)) dropConnection(connection)
}

/** The client was served by each of these groups. */
function noteCut(router: Router, why: string): void {
  const connections = connectionsOf(router)
  for (const { owner } of connections) owner.tape.noteCut()
  router.shards.onCut({ client: router.visitor.address, via: viasOf(connections), why })
}

/** The connections of a client to the groups that it has used. */
export function connectionsOf({ backends }: Router): Connection[] {
  return backends.flatMap((backend) => backend?.connection ?? [])
}

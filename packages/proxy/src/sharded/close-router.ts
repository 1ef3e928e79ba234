import { dropConnection } from '../connection.ts'
import type { Router } from './router.ts'
import { flushTold } from './tell-client.ts'

/** Ends a client after it has got everything that was told, with a last error if there is one. */
export function endRouter(router: Router, error?: string): void {
  if (router.closed) return
  const { client } = router
  flushTold(router)
  if (error !== undefined && router.owed.first()?.begun !== true) client.write(`-${error}\r\n`)
  close(router)
  client.destroySoon()
}

/** Ends a client at once. */
export function dropRouter(router: Router): void {
  if (router.closed) return
  close(router)
  router.client.destroy()
}

function close(router: Router): void {
  router.closed = true
  router.stash = []
  router.part = []
  router.diverted = []
  router.touched.clear()
  for (const leg of router.legs) if (leg !== undefined) dropConnection(leg.connection)
}

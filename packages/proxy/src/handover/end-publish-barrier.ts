import type { Connection } from '../connection/connection.ts'
import { forwardStash } from '../forwarding/forward-requests.ts'

/** Ends the publish barrier: requests that may publish continue. */
export function endPublishBarrier(connection: Connection): void {
  if (!connection.input.heldByBarrier) return
  connection.input.heldByBarrier = false
  forwardStash(connection)
}

import type { Connection } from '../connection/connection.ts'
import { forwardStash } from '../forwarding/forward-requests.ts'

/** What would have been published waits no longer. */
export function endPublishBarrier(connection: Connection): void {
  if (!connection.heldByBarrier) return
  connection.heldByBarrier = false
  forwardStash(connection)
}

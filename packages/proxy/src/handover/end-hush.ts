import type { Connection } from '../connection/connection.ts'
import { forwardStash } from '../forwarding/forward-requests.ts'

/** What would have been published waits no longer. */
export function endHush(connection: Connection): void {
  if (!connection.hushed) return
  connection.hushed = false
  forwardStash(connection)
}

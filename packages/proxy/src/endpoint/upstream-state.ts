import type { Address, EndpointSpec, SwitchResult } from '@fairlead/api/of-proxies'
import type { Connection, Owner } from '../connection/connection.ts'
import type { PublishBarrier } from '../connection/publish-barrier.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import type { CursorsNow } from '../handover/cursors-now.ts'
import type { GivenUp } from '../handover/given-up.ts'
import type { Hold } from '../handover/hold.ts'
import type { LongRequests } from '../handover/long-requests.ts'
import type { Target } from '../handover/open-link.ts'
import type { OverdueReplies } from '../handover/overdue-replies.ts'
import type { Seen } from '../listen/seen.ts'
import type { Tape } from '../traffic/tape.ts'

/**
 * The state of an upstream, by which of its fields are not null:
 *
 * - *serving*: requests go to the engine at `address`.
 * - *held* (`hold`): no request begins. It ends by a switch, by `release`, or when its time is over and the engine still serves.
 * - *switching* (`switching`): held, and its connections go to another address. While `isGoing`, all of them move at once, and none on
 *   its own.
 * - *following* (`following`): clients are served at the new address; connections without a waiting client still move there, one after
 *   the other. A new hold waits until all subscribers have arrived.
 *
 * Every connection has its own mode (connection/connection.ts), and an `era`: one of an earlier era than the owner's has not followed
 * the last switch yet.
 */
export interface UpstreamState {
  address: Address
  readonly tls: EndpointSpec['upstreamTls']
  readonly connections: Set<Connection>
  /** Connections that move on their own. */
  readonly followers: Set<Promise<void>>
  readonly owner: Owner
  readonly seen: Seen
  readonly longRequests: LongRequests
  readonly overdueReplies: OverdueReplies
  readonly givenUp: GivenUp
  readonly generations: CursorGenerations
  readonly cursors: CursorsNow
  readonly barrier: PublishBarrier
  readonly tape: Tape
  hold: Hold | null
  isGoing: boolean
  switching: Promise<SwitchResult> | null
  following: Promise<void> | null
  /** The time of the last switch, on the monotonic clock. */
  switchedMs: number
  /** Requests that had waited, and were sent when their clients were served again; counted from the beginning of a switch on. */
  resumed: number
}

/** The address for a new link of `state`. */
export function targetOf({ address, tls, cursors }: UpstreamState): Target {
  return { ...address, tls, cursors }
}

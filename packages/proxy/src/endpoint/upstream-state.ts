import type { Address, EndpointSpec, SwitchResult } from '@fairlead/api/of-proxies'
import type { Connection, Owner } from '../connection/connection.ts'
import type { PublishBarrier } from '../connection/publish-barrier.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import type { CursorsNow } from '../handover/cursors-now.ts'
import type { Hold } from '../handover/hold.ts'
import type { LongRequests } from '../handover/long-requests.ts'
import type { Target } from '../handover/open-link.ts'
import type { OverdueReplies } from '../handover/overdue-replies.ts'
import type { UnblockedClients } from '../handover/unblocked-clients.ts'
import type { EndpointStats } from '../listen/endpoint-stats.ts'
import type { Tape } from '../traffic/tape.ts'

/**
 * State of an upstream, given by its fields that are not null. Each connection also has a mode
 * (connection/connection.ts) and an `era`: one with an earlier era than the owner's has not followed the last
 * switch yet.
 * - *serving*: requests go to the engine at `address`.
 * - *held* (`hold`): no request begins. Ends by a switch, by `release`, or at its deadline if the engine
 *   still serves.
 * - *switching* (`switching`): held, and connections move to another address. While `isGoing`, all move
 *    together and none alone.
 * - *following* (`following`): clients are served at the new address; connections without a waiting client
 *   still move there, a few at a time. A new hold waits until all subscribers have arrived.
 */
export interface UpstreamState {
  address: Address
  readonly tls: EndpointSpec['upstreamTls']
  readonly connections: Set<Connection>
  /** Connections that move alone. */
  readonly followers: Set<Promise<void>>
  readonly owner: Owner
  readonly seen: EndpointStats
  readonly longRequests: LongRequests
  readonly overdueReplies: OverdueReplies
  readonly givenUp: UnblockedClients
  readonly generations: CursorGenerations
  readonly cursors: CursorsNow
  readonly barrier: PublishBarrier
  readonly tape: Tape
  hold: Hold | null
  isGoing: boolean
  switching: Promise<SwitchResult> | null
  following: Promise<void> | null
  /** Time of the last switch (monotonic ms). */
  switchedMs: number
  /** Requests that had waited and were sent when clients were served again, since the switch began. */
  resumed: number
}

/** Returns the target of new links. */
export function targetOf({ address, tls, cursors }: UpstreamState): Target {
  return { ...address, tls, cursors }
}

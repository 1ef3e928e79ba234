import type { Address } from '@fairlead/api'
import { type Moved, type NotMoved, writeStopOf } from '@fairlead/engine'
import type { HandoverParts } from '../../core/state/action.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { ORDER_WITHIN_MS } from '../turn/take-over.ts'
import type { Time } from '../turn/time.ts'

/** A move of the primary role, with the endpoint's clients. */
export interface RoleMove {
  /**
   * Deadline (Time.elapsed) of an order that cannot be taken back; stopped writes and held clients stay
   * stopped for longer. Null: no client is held, and it counts from right before the pause.
   */
  readonly until: number | null
  readonly orders: {
    /** Called right before the order to serve. */
    readonly give: () => void
    /** Called if the successor has refused it. */
    readonly refused: () => void
    /** For a successor in cluster mode whose epoch is not above its primary's: lets it raise its epoch. */
    readonly raiseEpoch: () => Promise<void>
  }
  /** Called once, when the successor serves: moves the endpoint's clients. Returns the hold in ms. */
  readonly takeClients: () => Promise<number | null>
}

/** The role and the clients have moved; times in ms. */
export interface MovedWithClients extends Omit<Moved, 'parts'> {
  /** Wait of the endpoint's clients from before the pause until they were served; null without clients. */
  readonly heldMs: number | null
  /** Length of each part. */
  readonly parts: Omit<HandoverParts, 'hold'>
  /** Start of the first part (Time.elapsed). */
  readonly began: number
}

/** The role has not moved, and the primary still serves. `hopeless`: a retry would not help. */
export interface MoveRefused extends Obstacle {
  readonly hopeless: boolean
  /** Makes the next attempt succeed. Call it after clients are released. */
  readonly remedy?: () => Promise<void>
}

/** A move for which the node's agent is prepared. */
export interface Move {
  /** Throws if it ends in the middle. */
  order(
    terms: { readonly followAt: Address; readonly validForMs: number },
    orders: Pick<RoleMove['orders'], 'give' | 'refused'>,
  ): Promise<Moved | NotMoved>
  /** Lets the old primary follow its successor; without it the agent does, later. */
  follow(): Promise<void>
}

/** Returns the deadline. `began`: right before the first order; the pause lasts longer than it is valid. */
export function untilOf({ until }: Pick<RoleMove, 'until'>, began: number): number {
  return until ?? began + ORDER_WITHIN_MS
}

/**
 * Moves the role outside of cluster mode by one order, which the agent carries out next to the engines
 * (move-role.ts of @fairlead/engine), and then the clients. The time that the order and its answer take on
 * their way is counted half as hold and half as release.
 */
export async function moveRoleByOrder(
  { order }: Pick<Move, 'order'>,
  { followAt, ...move }: RoleMove & { readonly followAt: Address },
  { elapsed }: Pick<Time, 'elapsed'>,
): Promise<MovedWithClients | MoveRefused> {
  const sent = elapsed()
  const moved = await order({ followAt, validForMs: untilOf(move, sent) - sent }, move.orders)
  if ('why' in moved) return moved
  const answered = elapsed()
  const way = (answered - sent - writeStopOf(moved.parts)) / 2
  const heldMs = await move.takeClients()
  const release = Math.round((elapsed() - answered + way) * 100) / 100
  return { ...moved, heldMs, parts: { ...moved.parts, release }, began: sent + way }
}

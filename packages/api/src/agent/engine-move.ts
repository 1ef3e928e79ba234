import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { Address, Build, ShardName } from './shard-report.ts'

/** Protocol for HTTP `Upgrade` to order a move of a primary role. */
export const MOVE_PROTOCOL = 'fairlead-move'

/**
 * Path to order a move: POST with `Upgrade: fairlead-move` and an epoch. After 101 both sides send one JSON
 * text a line: the server MovingShards, MoveTerms, and MoveRelease when clients are served; the agent
 * MoveAnswers. The move ends with the connection, as a tunnel does.
 */
export const MOVE_PATH = '/agent/move'

/** A group whose primary role moves outside of cluster mode. */
export const MovingShards = closed({
  primary: ShardName,
  successor: ShardName,
  others: Type.Array(ShardName, { maxItems: 16 }),
})
export type MovingShards = Static<typeof MovingShards>

/** See MoveOrder of @fairlead/engine. */
export const MoveTerms = closed({
  /** Build of the primary. */
  build: Build,
  errorReplies: Type.Integer(),
  /** Deadline of the demotion, from the arrival of the terms. */
  validForMs: Type.Number(),
  /** Address of the successor; its old primary follows after MoveRelease, without a server, or after 1 s. */
  followAt: Address,
  /** The trace of the agent's spans, which a later answer carries. */
  traceparent: Type.Optional(Type.String()),
})
export type MoveTerms = Static<typeof MoveTerms>

/** The clients are served by the successor. */
export interface MoveRelease {
  readonly released: true
}

/** One of these. Offsets are bytes of the stream. */
export interface MoveAnswer {
  /** The agent has connected to the shards, and waits for the terms. */
  readonly ready?: true
  /** Sent right before the successor gets the order to serve: without it, it has got none. */
  readonly giving?: true
  readonly moved?: {
    readonly replid: string
    readonly offset: number
    readonly keys: number
    readonly writeStopMs: number
    readonly parts: { readonly pause: number; readonly equal: number; readonly promote: number }
  }
  /** The primary still serves. */
  readonly notMoved?: {
    readonly code: 'replication' | 'data_differs' | 'order_late'
    readonly why: string
    readonly hopeless: boolean
  }
  /** After `moved`: the old primary has the order to follow. */
  readonly following?: true
  /** It was not begun, or ended in the middle: the roles have to be looked at. */
  readonly failed?: {
    /** `stale`: the epoch is not the highest. `cut`: by a higher one, a stall of the agent, or after 4 s. */
    readonly by: 'refusal' | 'silence' | 'cut' | 'stale'
    readonly why: string
  }
}

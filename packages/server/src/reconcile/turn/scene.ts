import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { Seen } from '../../core/state/topology.ts'
import type { Deps } from './deps.ts'
import { done, type Outcome } from './outcome.ts'

/** What a step works on. */
export interface Scene {
  readonly database: Database
  readonly group: number
  /** Of this group. */
  readonly members: readonly ShardRecord[]
  /** Of all groups. */
  readonly everybody: readonly ShardRecord[]
  /** The group as the step was planned on. */
  readonly seen: Seen
  readonly action: Action | undefined
  readonly moves: Moves
  readonly deps: Deps
  readonly signal: AbortSignal
}

/** Groups prepare their handovers side by side; roles move one after the other. */
export interface Moves {
  readonly inTurn: (move: () => Promise<Outcome>) => Promise<Outcome>
  /** How long a step may wait for its preparation within the turn, by performance.now(). */
  readonly waitUntil: number
}

export function member(id: number, { members }: Pick<Scene, 'members'>): ShardRecord {
  const shard = members.find((one) => one.id === id)
  if (shard === undefined) throw new Error(`shard ${id} is not on record`)
  return shard
}

/** One command to one shard. Idempotent: each of them asks for a state. */
export async function command(shard: number, scene: Scene, ...words: readonly string[]): Promise<Outcome> {
  const { database, everybody, deps } = scene
  const [name = '', ...args] = words
  const connection = await deps.engines.connect(database, member(shard, { members: everybody }))
  await deps.effect(`${name} ${args[0] ?? ''}`.trim().toLowerCase(), () => connection.call(name, ...args))
  return done
}

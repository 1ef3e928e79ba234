import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { done, type Outcome } from './outcome.ts'
import type { EffectRunner, EngineConnections } from './ports.ts'

/** The objects and the ports of a step (ports.ts). */
export interface StepContext<Ports> {
  readonly database: Database
  readonly group: number
  /** Of this group. */
  readonly members: readonly ShardRecord[]
  /** Of all groups. */
  readonly everybody: readonly ShardRecord[]
  /** The group as the step was planned on. */
  readonly seen: ObservedGroup
  readonly action: Action | undefined
  readonly moves: Moves
  readonly ports: Ports
  readonly signal: AbortSignal
}

/** Groups prepare their handovers side by side; roles move one after the other. */
export interface Moves {
  readonly inTurn: (move: () => Promise<Outcome>) => Promise<Outcome>
  /** How long a step may wait for its preparation within the turn, by Time.elapsed. */
  readonly waitUntil: number
}

/** The record of a shard of this group. Throws when there is none: a plan names only shards on record. */
export function member(id: number, { members }: { readonly members: readonly ShardRecord[] }): ShardRecord {
  const shard = members.find((one) => one.id === id)
  if (shard === undefined) throw new Error(`shard ${id} is not on record`)
  return shard
}

/** The ports for single commands to shards of the database. */
export type CommandContext = Pick<
  StepContext<EngineConnections & EffectRunner>,
  'database' | 'everybody' | 'ports'
>

/** One command to one shard. Idempotent: each of them asks for a state. */
export async function command(
  shard: number,
  { database, everybody, ports }: CommandContext,
  ...words: readonly string[]
): Promise<Outcome> {
  const [name = '', ...args] = words
  const connection = await ports.engines.connect(database, member(shard, { members: everybody }))
  await ports.effect(`${name} ${args[0] ?? ''}`.trim().toLowerCase(), () => connection.call(name, ...args))
  return done
}

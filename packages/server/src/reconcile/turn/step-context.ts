import type { EffectRunner } from '@fairlead/engine'
import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { done, type Outcome } from './outcome.ts'
import type { EngineConnections } from './ports.ts'

/** Objects and ports of a step (ports.ts). */
export interface StepContext<Ports> {
  readonly database: Database
  readonly group: number
  /** Shards of this group. */
  readonly members: readonly ShardRecord[]
  /** Shards of all groups. */
  readonly everybody: readonly ShardRecord[]
  /** The group as observed when the step was planned. */
  readonly seen: ObservedGroup
  readonly action: Action | undefined
  readonly moves: HandoverQueue
  readonly ports: Ports
  readonly signal: AbortSignal
}

/** Groups prepare their handovers concurrently; roles move sequentially. */
export interface HandoverQueue {
  readonly runExclusive: (move: () => Promise<Outcome>) => Promise<Outcome>
  /** Deadline (Time.elapsed) for a step to wait for its preparation within the turn. */
  readonly waitUntil: number
}

/** Returns a shard's record. Throws if there is none: a plan names only recorded shards of the group. */
export function member(id: number, { members }: { readonly members: readonly ShardRecord[] }): ShardRecord {
  const shard = members.find((one) => one.id === id)
  if (shard === undefined) throw new Error(`shard ${id} is not on record`)
  return shard
}

/** Ports for single commands to shards of the database. */
export type CommandContext = Pick<
  StepContext<EngineConnections<'connect' | 'tryOn'> & EffectRunner>,
  'database' | 'everybody' | 'ports'
>

/** Sends one command to one shard. Idempotent: each command asks for a state. */
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

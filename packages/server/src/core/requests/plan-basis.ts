import type { Module } from '../modules/module.ts'
import type { Database, ShardRecord } from '../state/database.ts'
import { type Goal, revisionOf } from '../state/goal.ts'
import type { OfferedBuild } from './resolve-build.ts'

/** Records of a database, and the room for it, at the same time. Bytes. */
export interface PlanInputs {
  readonly database: Database
  readonly shards: readonly ShardRecord[]
  /** Memory reserved on the node for shards without their data yet, over all databases. */
  readonly reservedBytes: number
  /** Lack of ports for an additional shard in each group; undefined if there are enough. */
  readonly lackOfPorts: string | undefined
}

/** The other inputs of a plan. */
export interface PlanSource {
  readonly goal: Goal
  readonly builds: readonly (OfferedBuild & { readonly holes: readonly { readonly id: string }[] })[]
  readonly modules: readonly Pick<Module, 'uid' | 'name'>[]
  /** Memory left free by surge shards; negative if there is not enough. */
  readonly spareBytes: number
  /** Reserved memory when `spareBytes` was measured. */
  readonly reservedBytes: number
}

/**
 * Returns a text that stays the same while the plan's inputs do: the request, the database's settings, shards
 * and modules, the nodes' builds, and if there is room. It contains no measurement and no secret; of the
 * memory, only reservations since `source` count.
 */
export function planBasis(inputs: PlanInputs, source: PlanSource): string {
  const { database, shards } = inputs
  const { spareBytes, goal, builds, modules } = source
  const spare = spareBytes - (inputs.reservedBytes - source.reservedBytes)
  const names = database.modules.map(({ name }) => name)
  const lines: readonly (readonly [string, ...unknown[]])[] = [
    ['database', ...settingsOf(database)],
    ...database.groups.map(
      ({ number, slots, primaryShard }) => ['group', number, slots, primaryShard] as const,
    ),
    ...shards.map((shard) => ['shard', ...placeOf(shard)] as const),
    ['goal', ...wishesOf(goal)],
    ...builds.map((build) => ['build', ...tellOf(build)] as const),
    ...modules.filter(({ name }) => names.includes(name)).map(({ uid }) => ['module', uid] as const),
    ['room', spare >= 0, inputs.lackOfPorts === undefined],
  ]
  return lines
    .map((line) => JSON.stringify(line))
    .toSorted()
    .join('\n')
}

function settingsOf(database: Database): readonly unknown[] {
  const { uid, memoryBytes, replicas, persistence, aofFsync, snapshots, evictionPolicy } = database
  const { cluster, clientsKnowShards, shardTls, tls } = database
  return [
    ...[uid, revisionOf(database), memoryBytes, replicas, persistence, aofFsync, snapshots, evictionPolicy],
    ...[cluster, clientsKnowShards, shardTls, tls],
  ]
}

function placeOf({ id, group, nodeUid, runs, follows, leaving }: ShardRecord): readonly unknown[] {
  return [id, group, nodeUid, revisionOf(runs), follows, leaving]
}

function wishesOf(goal: Goal): readonly unknown[] {
  const { preserveRoles, discard, inPlace, policy } = goal
  const { parallel, canary, supervised, rollbackWindow } = policy
  return [revisionOf(goal), preserveRoles, discard, inPlace, parallel, canary, supervised, rollbackWindow]
}

function tellOf({ flavour, version, refusedFor = [], holes }: PlanSource['builds'][number]) {
  return [flavour, version, refusedFor, holes.map(({ id }) => id)]
}

import type { Module } from '../modules/module.ts'
import type { Database, ShardRecord } from '../state/database.ts'
import { type Goal, revisionOf } from '../state/goal.ts'
import type { OfferedBuild } from './resolve-build.ts'

/** What is on record of a database and of the room for it, at one moment. Bytes. */
export interface Standing {
  readonly database: Database
  readonly shards: readonly ShardRecord[]
  /** Memory that is kept free on the node for shards that have not received their data, over all databases. */
  readonly reservedBytes: number
  /** Why the node has no port for a further shard in each group; undefined: it has. */
  readonly lackOfPorts: string | undefined
}

/** What a plan was made from besides. */
export interface PlanSource {
  readonly goal: Goal
  readonly builds: readonly (OfferedBuild & { readonly holes: readonly { readonly id: string }[] })[]
  readonly modules: readonly Pick<Module, 'uid' | 'name'>[]
  /** Memory that surge shards would leave free; below 0: there is not enough. */
  readonly spareBytes: number
  /** When `spareBytes` was looked at. */
  readonly reservedBytes: number
}

/**
 * What a plan depends on, as a text that is the same as long as all of that is the same: the request, the settings, shards and modules of the database,
 * the builds on the nodes, and whether there is room. Nothing that is measured is in it, and no secret. Of the memory, what was reserved since
 * `source` was looked at counts.
 */
export function planBasis(standing: Standing, source: PlanSource): string {
  const { database, shards } = standing
  const { spareBytes, goal, builds, modules } = source
  const spare = spareBytes - (standing.reservedBytes - source.reservedBytes)
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
    ['room', spare >= 0, standing.lackOfPorts === undefined],
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

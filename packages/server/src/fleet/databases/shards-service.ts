import type { ShardDuty, ShardReport } from '@fairlead/api'
import { dutyOf } from '../../core/progress/advance-lane.ts'
import {
  type Database,
  type GroupRecord,
  type ShardRecord,
  type SlotRange,
  steadyGoal,
} from '../../core/state/database.ts'
import type { Goal } from '../../core/state/goal.ts'
import { isLive, type ObservedDatabase, type ObservedGroup } from '../../core/state/topology.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import type { Store } from '../../store/open-store.ts'
import { shardsStore } from '../stores/shards-store.ts'
import type { Databases, DatabaseView, ViewsQuery } from './databases-service.ts'

/** A shard with its state. */
export interface ShardView {
  readonly shard: ShardRecord
  readonly slots: SlotRange
  readonly isPrimary: boolean
  readonly report: ShardReport | undefined
  /** The agent of its node does not answer. */
  readonly isAgentAway: boolean
  /** Undefined: not observed. */
  readonly seen: SeenShard | undefined
}

/** Current values of an engine. Null: the engine does not answer, or does not report it. */
interface SeenShard {
  readonly duty: ShardDuty | null
  readonly link: 'up' | 'down' | null
  readonly offset: number | null
  readonly lagBytes: number | null
  readonly usedMemoryBytes: number | null
}

/** People wait for it; the agent's report is already there. */
const LOOK_WITHIN_MS = 1_000

/** A database and its shards. */
export interface ShardsOfDatabase {
  readonly database: Database
  readonly shards: readonly ShardView[]
}

export type Shards = ReturnType<typeof createShards>

/**
 * Shards, with their agents' current reports. Asks agents on each call, and engines for a single database.
 */
export function createShards(deps: {
  readonly store: Store
  readonly databases: Pick<Databases, 'get' | 'list'>
  readonly nodes: Pick<Nodes, 'reportsOf'>
  readonly look: (database: Database) => Promise<ObservedDatabase>
}) {
  const { store, databases, nodes, look } = deps
  const see = async (
    views: readonly DatabaseView[],
    look: Promise<(shard: ShardRecord) => SeenShard | undefined> = Promise.resolve(() => undefined),
  ) => {
    const ids = views.flatMap(({ shards }) => shards.map(({ id }) => id))
    // In parallel, so that an unreachable node costs one deadline.
    const [reports, seen] = await Promise.all([nodes.reportsOf(ids), look])
    return views.map(({ database, shards }) => ({
      database,
      shards: database.groups
        .flatMap((group) => shardViews(group, shards, reports ?? []))
        .map((view) => ({ ...view, seen: seen(view.shard), isAgentAway: reports === null })),
    }))
  }
  const seeOne = async (uid: number) => {
    const view = await databases.get(uid)
    const goal = view.action?.goal ?? steadyGoal(view.database)
    const looked = unlessLate(look(view.database)).then((observed) => ({ id, group }: ShardRecord) => {
      const seen = observed?.groups.find((one) => one.group === group)
      return seen && seeShard(id, seen, goal)
    })
    const found = await see([view], looked)
    return found.flatMap(({ shards }) => shards)
  }
  return {
    /** Throws Refusal db_not_exist. */
    ofDatabase: seeOne,
    /** Shards of the databases of this page. Does not ask engines. */
    list: async (query: ViewsQuery) => see(await databases.list(query)),
    async get(id: number): Promise<ShardView | undefined> {
      const [uid] = await shardsStore(store.db).databasesOf([id])
      if (uid === undefined) return undefined
      return (await seeOne(uid)).find(({ shard }) => shard.id === id)
    },
  }
}

/** Undefined: too slow, or the agent is unreachable. */
async function unlessLate(looking: Promise<ObservedDatabase>): Promise<ObservedDatabase | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), LOOK_WITHIN_MS)
  try {
    return await Promise.race([looking.catch(() => undefined), late])
  } finally {
    clearTimeout(timer)
  }
}

function seeShard(id: number, group: ObservedGroup, goal: Goal): SeenShard {
  const live = group.shards.filter(isLive)
  const engine = live.find((shard) => shard.id === id)?.engine
  const primary = live.find((shard) => shard.id === group.recordedPrimary)?.engine
  const isReplica = engine?.role === 'replica'
  const follows = isReplica && primary !== undefined && engine.replid === primary.replid
  return {
    duty: dutyOf(id, group, goal),
    link: isReplica ? engine.link : null,
    offset: engine?.offset ?? null,
    lagBytes: follows ? Math.max(0, primary.offset - engine.offset) : null,
    usedMemoryBytes: engine?.usedMemoryBytes ?? null,
  }
}

function shardViews(
  { number, slots, primaryShard }: GroupRecord,
  records: readonly ShardRecord[],
  reports: readonly ShardReport[],
): readonly Omit<ShardView, 'seen' | 'isAgentAway'>[] {
  return records
    .filter(({ group }) => group === number)
    .map((shard) => ({
      shard,
      slots,
      isPrimary: shard.id === primaryShard,
      report: reports.find(({ id }) => id === `s${shard.id}`),
    }))
}

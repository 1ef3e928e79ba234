import type { ShardReport } from '@fairlead/api'
import type { GroupRecord, ShardRecord, SlotRange } from '../core/state/database.ts'
import type { Nodes } from '../nodes/nodes-service.ts'
import type { Store } from '../store/open-store.ts'
import type { Databases, DatabaseView } from './databases-service.ts'
import type { ViewsQuery } from './list-views.ts'
import { shardsStore } from './shards-store.ts'

/** A shard as people see it. */
export interface ShardView {
  readonly shard: ShardRecord
  readonly slots: SlotRange
  readonly isPrimary: boolean
  readonly report: ShardReport | undefined
}

/** Shards, with what their agents say of them right now. */
export interface Shards {
  /** Throws Refusal db_not_exist. */
  ofDatabase(uid: number): Promise<readonly ShardView[]>
  /** Of the databases of this page. */
  list(query: ViewsQuery): Promise<readonly ShardView[]>
  get(id: number): Promise<ShardView | undefined>
}

/** Nothing is remembered: each call asks the agents. */
export function createShards(deps: {
  readonly store: Store
  readonly databases: Pick<Databases, 'get' | 'list'>
  readonly nodes: Pick<Nodes, 'reportsOf'>
}): Shards {
  const { store, databases, nodes } = deps
  const see = async (views: readonly DatabaseView[]) => {
    const reports = await nodes.reportsOf(views.flatMap(({ shards }) => shards.map(({ id }) => id)))
    return views.flatMap(({ database, shards }) =>
      database.groups.flatMap((group) => shardViews(group, shards, reports)),
    )
  }
  return {
    ofDatabase: async (uid) => see([await databases.get(uid)]),
    list: async (query) => see(await databases.list(query)),
    async get(id) {
      const [uid] = await shardsStore(store.db).databasesOf([id])
      if (uid === undefined) return undefined
      return (await see([await databases.get(uid)])).find(({ shard }) => shard.id === id)
    },
  }
}

function shardViews(
  { number, slots, primaryShard }: GroupRecord,
  records: readonly ShardRecord[],
  reports: readonly ShardReport[],
): readonly ShardView[] {
  return records
    .filter(({ group }) => group === number)
    .map((shard) => ({
      shard,
      slots,
      isPrimary: shard.id === primaryShard,
      report: reports.find(({ id }) => id === `s${shard.id}`),
    }))
}

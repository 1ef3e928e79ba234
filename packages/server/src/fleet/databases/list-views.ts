import { byUid, placeOf } from '../../core/requests/list-order.ts'
import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { readInPieces } from '../../store/choose-page.ts'
import type { ActionsStore } from '../stores/actions-store.ts'
import type { DatabasesPage } from '../stores/chosen-databases-store.ts'
import type { DatabasesStore } from '../stores/databases-store.ts'
import type { ShardsStore } from '../stores/shards-store.ts'

/** Selects and orders databases; `only` these unless null. Default: no limit. */
export interface ViewsQuery extends Pick<DatabasesPage, 'only' | 'after' | 'filter' | 'order'> {
  readonly limit?: number
  readonly offset?: number
}

/** Like DatabaseView of the service. */
interface View {
  readonly database: Database
  readonly shards: readonly ShardRecord[]
  readonly action: Action | undefined
}

interface Stores {
  readonly databases: Pick<DatabasesStore, 'page'>
  readonly shards: Pick<ShardsStore, 'listOfEach'>
  readonly actions: Pick<ActionsStore, 'activeOf'>
}

/** Makes three queries per page. Only databases that are deleted in between may be missing. */
export async function listViews(
  { order = byUid, only, filter = {}, ...page }: ViewsQuery,
  stores: Stores,
): Promise<readonly View[]> {
  const read = async (piece: Omit<DatabasesPage, 'only' | 'filter'>) =>
    viewsOf(await stores.databases.page({ ...piece, only, filter }), stores)
  return readInPieces({ ...page, order }, read, ({ database }, by) => placeOf(database, { by }))
}

async function viewsOf(databases: readonly Database[], stores: Stores): Promise<readonly View[]> {
  const uids = databases.map(({ uid }) => uid)
  const shards = await stores.shards.listOfEach(uids)
  const actions = await stores.actions.activeOf(uids)
  return databases.map((database) => ({
    database,
    shards: shards.get(database.uid) ?? [],
    action: actions.get(database.uid),
  }))
}

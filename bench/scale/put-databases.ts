import { join } from 'node:path'
import { steadyGoal } from '../../packages/server/src/core/state/database.ts'
import { actionsStore } from '../../packages/server/src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../packages/server/src/fleet/stores/databases-store.ts'
import { shardsStore } from '../../packages/server/src/fleet/stores/shards-store.ts'
import { type Db, openStore, type StorePlace } from '../../packages/server/src/store/open-store.ts'
import { createSecretBox, readStoreKey } from '../../packages/server/src/store/secret-box.ts'
import { idOf, type SimulatedShard } from './simulated-node.ts'

/** An address of this machine at which no other program listens. */
const HOST = '127.77.0.1'
const FIRST_PORT = 10_000
const FIRST_ENDPOINT_PORT = 40_000

/**
 * Records this many databases of one shard each, all in the state of the database `template` (a uid) after
 * its creation. No server may run on `home`.
 */
export async function putDatabases(
  { home, place }: { readonly home: string; readonly place: StorePlace },
  template: number,
  count: number,
): Promise<readonly SimulatedShard[]> {
  const readBox = () => createSecretBox(readStoreKey(join(home, 'store.key')))
  await using store = await openStore(place, readBox)
  return await store.transaction(async (db) => {
    const shards: SimulatedShard[] = []
    for (let n = 0; n < count; n += 1) shards.push(await putDatabase(db, template, n))
    return shards
  })
}

async function putDatabase(db: Db, template: number, n: number): Promise<SimulatedShard> {
  const [databases, shards, actions] = [databasesStore(db), shardsStore(db), actionsStore(db)]
  const like = await databases.get(template)
  const [shardLike] = await shards.listOf(template)
  const [groupLike] = like?.groups ?? []
  if (like === undefined || shardLike === undefined || groupLike?.history == null)
    throw new Error(`database ${template} is no template: it has no shard, or no history yet`)
  const name = `simulated-${n}`
  const { uid } = await databases.insert({
    ...like,
    name,
    groups: 1,
    shardTls: false,
    endpointPort: FIRST_ENDPOINT_PORT + n,
  })
  const at = like.createdAt
  const place = { host: HOST, port: FIRST_PORT + n, tlsPort: null }
  const shard = await shards.insert({ ...shardLike, ...place, databaseUid: uid, reservedBytes: 0 }, at)
  await databases.setStatus(uid, 'active', at)
  await databases.setPrimary(uid, 0, shard.id)
  await databases.setHistory(uid, 0, {
    ...groupLike.history,
    replid: idOf('history', `s${shard.id}`),
    runId: idOf('run', `s${shard.id}`),
  })
  const action = `${name}-creation`
  await actions.insert({ uid: action, databaseUid: uid, kind: 'create', goal: steadyGoal(like) }, at)
  await actions.update(action, { status: 'done', progress: 100 }, at)
  return { shard: shard.id, databaseUid: uid, ...place }
}

import type { NodeFacts } from '@fairlead/api'
import { ENDPOINT_HOST } from '../../core/state/endpoint-name.ts'
import { changesStore } from '../../fleet/stores/changes-store.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import type { Store } from '../../store/open-store.ts'
import type { NodeAnswer } from './event-wire.ts'

/** The only node: server and agent are on one machine. */
const THIS_NODE = 1

/** Observes the node, and records changes if there are any. */
export async function lookAtNodes(store: Store, nodes: Pick<Nodes, 'describe'>): Promise<void> {
  const facts = await nodes.describe()
  const dataFrom = async (db: Store['db']) => {
    const known = (await changesStore(db).nodes()).find(({ uid }) => uid === THIS_NODE)?.data ?? undefined
    const data = JSON.stringify(factsOf(facts, known))
    return data === known ? undefined : data
  }
  if ((await dataFrom(store.db)) === undefined) return
  await store.transaction(async (db) => {
    // Another server may have recorded it already.
    const data = await dataFrom(db)
    if (data !== undefined) await changesStore(db).note('nodes', THIS_NODE, data)
  })
}

/** A node's event data; the last known while its agent does not answer. */
function factsOf(facts: NodeFacts | null, known: string | undefined): NodeAnswer {
  if (facts === null) {
    const last = known === undefined ? { addr: ENDPOINT_HOST } : (JSON.parse(known) as NodeAnswer) // written here
    const missing = { engine_wall: false, engine_wall_missing: 'the agent does not answer' }
    return { ...last, status: 'down', ...missing }
  }
  const missing = facts.noWall
  return {
    addr: facts.host,
    status: 'active',
    cores: facts.cores,
    total_memory: facts.memoryTotalBytes,
    engine_wall: missing === null,
    engine_wall_missing: missing === undefined ? 'the agent is older' : (missing ?? ''),
  }
}

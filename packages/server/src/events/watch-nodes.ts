import type { Nodes } from '../nodes/nodes-service.ts'
import type { Store } from '../store/open-store.ts'
import { changesStore } from './changes-store.ts'
import type { NodeAnswer } from './event-wire.ts'

/** The only node there is: server and agent on one machine. */
const THIS_NODE = 1

/** Looks at the node, and writes down what has changed of it since; without a change, nothing. */
export async function lookAtNodes(store: Store, nodes: Pick<Nodes, 'describe'>): Promise<void> {
  const data = JSON.stringify(await factsOf(nodes))
  const isKnown = async (db: Store['db']) =>
    (await changesStore(db).nodes()).some((known) => known.uid === THIS_NODE && known.data === data)
  if (await isKnown(store.db)) return
  await store.transaction(async (db) => {
    // Another server may have seen it in the meantime.
    if (!(await isKnown(db))) await changesStore(db).note('nodes', THIS_NODE, data)
  })
}

async function factsOf(nodes: Pick<Nodes, 'describe'>): Promise<NodeAnswer> {
  const facts = await nodes.describe()
  const missing = facts === null ? 'the agent does not answer' : facts.noWall
  return {
    addr: facts?.host ?? '',
    status: facts === null ? 'down' : 'active',
    cores: facts?.cores ?? 0,
    total_memory: facts?.memoryTotalBytes ?? 0,
    engine_wall: missing === null,
    engine_wall_missing: missing === undefined ? 'the agent is older' : (missing ?? ''),
  }
}

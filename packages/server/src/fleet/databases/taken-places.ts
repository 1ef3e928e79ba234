import type { PortRange } from '../../core/state/port-range.ts'
import type { Refused } from '../../core/state/refused.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import type { DatabasesStore } from '../stores/databases-store.ts'
import type { ShardsStore } from '../stores/shards-store.ts'
import { takenPorts } from './taken-ports.ts'

/** Records that have names and ports, the ports that a request may name, and those for free choice. */
export interface Places {
  readonly databases: DatabasesStore
  readonly shards: ShardsStore
  readonly nodes: Pick<Nodes, 'isFree'>
  readonly askedPorts: PortRange
  readonly portRange: PortRange
}

/** Returns why a database cannot get this name; undefined: it can. */
export async function refuseTakenName(
  name: string,
  { databases }: Pick<Places, 'databases'>,
): Promise<Refused | undefined> {
  if ((await databases.getByName(name)) === undefined) return undefined
  return { refused: 'name_already_exists', field: 'name', message: `name: a database named ${name} exists` }
}

/**
 * Returns why an endpoint cannot get this port; undefined: it can. A requested port is granted or refused:
 * clients would not find the database elsewhere, and another port may belong to a service.
 */
export async function refuseTakenPort(port: number, places: Places): Promise<Refused | undefined> {
  const { askedPorts: asked, portRange, nodes } = places
  const refused = { refused: 'port_unavailable', field: 'port' } as const
  const range = `${asked.from} to ${asked.to}`
  if (![asked, portRange].some(({ from, to }) => port >= from && port <= to))
    return { ...refused, message: `port: ${port} may not be asked for; send one from ${range}` }
  const isTaken =
    (await takenPorts({ from: port, to: port }, places)).length > 0 || !(await nodes.isFree(port))
  return isTaken
    ? { ...refused, message: `port: ${port} is taken; send another one from ${range}` }
    : undefined
}

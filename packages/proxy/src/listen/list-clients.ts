import type { ClientList } from '@fairlead/api/of-proxies'
import type { RequestScanner } from '@fairlead/engine'
import type { ClientSide, Connection, Visitor } from '../connection/connection.ts'
import type { Via } from '../connection/link.ts'
import { type ConnectionState, freshState } from '../remembered/connection-state.ts'

/** Query: maximum number of clients; optionally only the client of this link (the proxy's end). */
export interface ClientQuery {
  readonly limit: number
  readonly via?: string
}

/** A client with all its connections to shards. */
export interface ConnectedClient {
  readonly visitor: Visitor
  readonly socket: Pick<ClientSide, 'localAddress' | 'localPort' | 'writableLength'>
  readonly requests: Pick<RequestScanner, 'nameHash'>
  readonly connections: readonly Connection[]
  /** Connection state at the engines. */
  readonly state: ConnectionState | undefined
}

/** Clients choose their names, of any length. */
const LONGEST_NAME = 200

/** Lists clients with their links, oldest first. */
export function listClients(present: Iterable<ConnectedClient>, { limit, via }: ClientQuery): ClientList {
  const clients: ClientList['clients'] = []
  let connections = 0
  for (const each of present) {
    connections += 1
    if (clients.length >= limit) continue
    const links = viasOf(each.connections)
    if (via === undefined || links.some(({ address }) => address === via)) clients.push(describe(each, links))
  }
  return { connections, clients }
}

/** Returns the links, present or last, of the connections that have had one. */
export function viasOf(connections: readonly Connection[]): Via[] {
  return connections.flatMap(({ via }) => via ?? [])
}

function describe(
  { visitor, connections, state = freshState }: ConnectedClient,
  via: Via[],
): ClientList['clients'][number] {
  return {
    client: visitor.address,
    via,
    connectedAt: visitor.sinceMs,
    name: text(state.settings.get('SETNAME')?.[1]),
    user: state.login?.length === 2 ? text(state.login[0]) : 'default',
    held: connections.some(({ mode }) => mode === 'draining' || mode === 'held' || mode === 'moving'),
  }
}

function text(bytes: Buffer | undefined): string {
  return bytes?.toString('utf8').slice(0, LONGEST_NAME) ?? ''
}

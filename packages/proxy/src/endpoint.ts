import type { Socket } from 'node:net'
import type { EndpointReport, HoldResult, SwitchResult, WantedEndpoint } from '@fairlead/api'
import { type Admission, createAdmission } from './admission.ts'
import { type Connection, createConnection, dropConnection, steerLink } from './connection.ts'
import { isSubscribed } from './connection-state.ts'
import { endIfDone, takeRequests } from './forward-requests.ts'
import { type Listener, listen, turnAway } from './listen.ts'
import { createUpstream } from './upstream.ts'

/** One address for the clients of a database, and the connections that came there. */
export interface Endpoint extends AsyncDisposable, Pick<Listener, 'renewTls'> {
  /** With the upstreams that it has now. */
  readonly wanted: WantedEndpoint
  /** Opens links at an engine that is about to have the role, for the connections in use. How many. */
  prepare(upstream: WantedEndpoint['upstream'], slot?: number): Promise<number>
  /** Stops forwarding and waits until all replies are in. `slot`: only to the group that holds it. */
  hold(times: {
    readonly deadlineMs: number
    readonly drainMs?: number
    readonly slot?: number
  }): Promise<HoldResult>
  /**
   * Moves everything, or what goes to the group of `slot`, to `upstream` and lets clients go there. Throws a refusal if
   * commands are not answered in time.
   */
  switchTo(upstream: WantedEndpoint['upstream'], slot?: number): Promise<SwitchResult>
  /** Lets clients go where they were. */
  release(slot?: number): void
  report(): Omit<EndpointReport, 'id' | 'state' | 'why'> & { readonly isHeld: boolean }
}

export interface EndpointOptions {
  readonly reusePort?: boolean
  readonly admission?: Admission
}

/** For a client that has closed its side: how long no reply may come before it is given up. */
export const LINGER_MS = 60_000

/** Serves a database of one group. Throws when it cannot listen. `reusePort`: several processes may share the port. */
export async function openEndpoint(
  wanted: WantedEndpoint,
  { reusePort = false, admission = createAdmission() }: EndpointOptions = {},
): Promise<Endpoint> {
  const count = { commands: 0 }
  const onClosed = () => {
    admission.open -= 1
  }
  const upstream = createUpstream(wanted.upstream, wanted.upstreamTls, { count, onClosed })

  const admit = (socket: Socket): void => {
    if (admission.open >= admission.most) {
      upstream.owner.onError('the process has as many connections as it may have')
      turnAway(socket)
      return
    }
    const connection = createConnection(socket, upstream.owner)
    admission.open += 1
    listenTo(connection, socket)
    upstream.add(connection)
  }

  const listener = await listen(wanted, { reusePort, admission }, admit)
  return {
    get wanted() {
      return { ...wanted, upstream: upstream.address }
    },
    prepare: upstream.prepare,
    hold: upstream.hold,
    switchTo: upstream.switchTo,
    release: upstream.release,
    renewTls: listener.renewTls,
    report: () => ({
      host: wanted.host,
      port: wanted.port,
      upstream: upstream.address,
      shards: null,
      isHeld: upstream.isHeld,
      connections: upstream.connections.size,
      commands: count.commands,
      ...upstream.seen,
    }),
    async [Symbol.asyncDispose]() {
      upstream[Symbol.dispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}

function listenTo(connection: Connection, client: Socket): void {
  client.on('data', (chunk) => takeRequests(connection, chunk))
  client.on('drain', () => steerLink(connection))
  client.on('end', () => {
    connection.clientEnded = true
    // A subscriber that has gone sends nothing and is sent nothing: nobody else would notice.
    if (isSubscribed(connection.state)) dropConnection(connection)
    else endIfDone(connection)
    client.setTimeout(LINGER_MS, () => dropConnection(connection))
  })
  client.on('error', () => dropConnection(connection))
  client.on('close', () => dropConnection(connection))
}

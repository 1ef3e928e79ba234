import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import {
  type EndpointReport,
  type HoldResult,
  Refusal,
  type SwitchResult,
  type WantedEndpoint,
} from '@fairlead/api'
import { type Admission, createAdmission } from './admission.ts'
import {
  type Connection,
  createConnection,
  dropConnection,
  endConnection,
  type Owner,
  steerLink,
} from './connection.ts'
import { isSubscribed } from './connection-state.ts'
import { endIfDone, takeRequests } from './forward-requests.ts'
import { createHold, type Hold } from './hold.ts'
import { eachOf, moveAll } from './move-all.ts'
import { holdConnection, moveConnection, noticeQuiet, releaseConnection, resume } from './move-connection.ts'
import { adopt, openLink, type Target } from './open-link.ts'

/** One address for the clients of a database, and the connections that came there. */
export interface Endpoint extends AsyncDisposable {
  readonly wanted: WantedEndpoint
  /** Stops forwarding and waits until all replies are in. */
  hold(times: { readonly deadlineMs: number; readonly drainMs?: number }): Promise<HoldResult>
  /** Moves everything to `upstream` and lets clients go there. Throws a refusal if commands are not answered in time. */
  switchTo(upstream: WantedEndpoint['upstream']): Promise<SwitchResult>
  /** Lets clients go where they were. */
  release(): void
  report(): Omit<EndpointReport, 'id' | 'state' | 'why'> & { readonly isHeld: boolean }
}

/** How long a client may wait for an engine that cannot be reached. */
const REACH_MS = 2_000
/** The hold of a switch that nobody has prepared. */
const OWN_HOLD = { deadlineMs: 10_000, drainMs: 3_000 }
/** For a client that has closed its side: how long no reply may come before it is given up. */
const LINGER_MS = 60_000
const BACKLOG = 4_096

/** Listens. Throws when it cannot. `reusePort`: several processes may share the port. */
export async function openEndpoint(
  wanted: WantedEndpoint,
  options: { readonly reusePort?: boolean; readonly admission?: Admission } = {},
): Promise<Endpoint> {
  const connections = new Set<Connection>()
  const followers = new Set<Promise<void>>()
  const admission = options.admission ?? createAdmission()
  const count = { commands: 0 }
  const seen = { errors: 0, lastError: '', repoints: 0, failedHolds: 0, heldMsTotal: 0, heldMsLast: 0 }
  let upstream = wanted.upstream
  let hold: Hold | null = null
  /** All move at this moment: nobody on its own. */
  let isGoing = false
  let switching: Promise<SwitchResult> | null = null

  const target = (): Target => ({ ...upstream, tls: wanted.upstreamTls })
  const owner: Owner = {
    count,
    onQuiet: (connection) => {
      if (!noticeQuiet(connection)) return
      if (connection.late) void follow(connection)
      else hold?.look()
    },
    onWaiting: (connection) => void follow(connection),
    onClosed: (connection) => {
      if (connections.delete(connection)) admission.open -= 1
      hold?.look()
    },
    onError: (what) => {
      seen.errors += 1
      seen.lastError = what
    },
  }

  const admit = (socket: Socket): void => {
    if (admission.open >= admission.most) {
      owner.onError('the process has as many connections as it may have')
      socket
        .on('error', () => undefined)
        .end('-ERR max number of clients reached\r\n')
        .destroySoon()
      return
    }
    const connection = createConnection(socket, owner)
    connections.add(connection)
    admission.open += 1
    listenTo(connection)
    void open(connection)
  }
  const open = async (connection: Connection): Promise<void> => {
    try {
      const link = await openLink(connection, target(), performance.now() + REACH_MS)
      if (connection.mode !== 'opening') return void link.socket.destroy()
      adopt(connection, link)
      serve(connection)
    } catch (cause) {
      // A switch that began meanwhile opens it anew.
      if (connection.mode !== 'opening') return
      owner.onError(`no engine could be reached: ${cause instanceof Error ? cause.message : String(cause)}`)
      endConnection(connection, 'LOADING the database cannot be reached right now; try again')
    }
  }
  /** Moves a connection on its own, after the others. */
  const follow = async (connection: Connection): Promise<void> => {
    if (isGoing || !connection.late || connection.mode !== 'held') return
    connection.late = false
    const following = moveConnection(connection, target(), performance.now() + REACH_MS)
    followers.add(following)
    await following
    followers.delete(following)
    serve(connection)
  }
  /** It has its link. If another hold has begun meanwhile, it is held with the others. */
  const serve = (connection: Connection): void => {
    if (connection.mode === 'closed') return
    if (hold === null) {
      resume(connection)
      return
    }
    connection.mode = 'serving'
    holdConnection(connection)
  }

  const letGo = (): void => {
    if (hold === null) return
    endHold()
    for (const connection of connections)
      void releaseConnection(connection, target(), performance.now() + REACH_MS)
  }
  const endHold = (): number => {
    if (hold === null) return 0
    const heldMs = hold.end()
    hold = null
    seen.heldMsLast = heldMs
    seen.heldMsTotal += heldMs
    return heldMs
  }
  const beginHold: Endpoint['hold'] = async ({ deadlineMs, drainMs = Math.ceil(deadlineMs / 2) }) => {
    const giveUp = () => {
      if (switching !== null) return
      seen.failedHolds += 1
      letGo()
    }
    if (hold === null) {
      hold = createHold(connections, giveUp)
      for (const connection of connections) holdConnection(connection)
    }
    hold.renew(deadlineMs)
    const result = await hold.drained(drainMs)
    if (!result.drained) giveUp()
    return result
  }
  const goOver = async (to: WantedEndpoint['upstream']): Promise<SwitchResult> => {
    if (hold === null) {
      const { drained, why } = await beginHold(OWN_HOLD)
      if (!drained) throw new Refusal('order_not_applicable', `the endpoint cannot be held: ${why}`)
    }
    // Whoever still follows the last switch has to arrive there before it can go on from there.
    isGoing = true
    while (followers.size > 0) await Promise.all(followers)
    upstream = to
    seen.repoints += 1
    const move = (connection: Connection) =>
      moveConnection(connection, target(), performance.now() + REACH_MS)
    const { ready, later, closed } = await moveAll([...connections], move, target())
    isGoing = false
    const heldMs = endHold()
    for (const connection of ready) resume(connection)
    // Whoever came meanwhile has the new upstream already, and was held with the others.
    for (const connection of connections)
      if (!connection.late) void releaseConnection(connection, target(), performance.now() + REACH_MS)
    for (const connection of later) if (connection.stash.length > 0) void follow(connection)
    void eachOf(later, follow)
    return { moved: ready.length, later: later.length, closed, heldMs }
  }

  const server = await listen(wanted, options.reusePort ?? false, admit)
  return {
    get wanted() {
      return { ...wanted, upstream }
    },
    hold: beginHold,
    async switchTo(to) {
      await switching?.catch(() => null)
      if (hold === null && to.host === upstream.host && to.port === upstream.port)
        return { moved: 0, later: 0, closed: 0, heldMs: 0 }
      switching = goOver(to)
      try {
        return await switching
      } finally {
        switching = null
      }
    },
    release() {
      if (switching === null) letGo()
    },
    report: () => ({
      host: wanted.host,
      port: wanted.port,
      upstream,
      isHeld: hold !== null,
      connections: connections.size,
      commands: count.commands,
      ...seen,
    }),
    async [Symbol.asyncDispose]() {
      endHold()
      for (const connection of connections) dropConnection(connection)
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      await promise
    },
  }
}

function listenTo(connection: Connection): void {
  const { client } = connection
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

async function listen(
  wanted: WantedEndpoint,
  reusePort: boolean,
  admit: (socket: Socket) => void,
): Promise<Server> {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 300_000 }
  const server =
    wanted.tls === null
      ? createServer(options, admit)
      : createTlsServer({ ...options, cert: wanted.tls.cert, key: wanted.tls.key }, admit)
  server.on('tlsClientError', () => undefined)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: wanted.host, port: wanted.port, backlog: BACKLOG, reusePort }, () => resolve())
  await promise
  server.off('error', reject)
  server.on('error', () => undefined)
  return server
}

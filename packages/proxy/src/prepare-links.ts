import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { type ConnectionState, isSubscribed } from './connection-state.ts'
import { eachOf } from './each-of.ts'
import { openLink, type Target } from './open-link.ts'

/** Who asks nothing for this long is moved when it asks something. */
const LOOK_MS = 50
/** A link that nobody has taken by then was prepared for a role that did not move. */
const KEEP_MS = 5_000
const OPEN_MS = 1_000

/**
 * Opens links at `target` for the connections that are in use, before anybody is held: connecting and making an engine
 * remember a client is most of what clients would wait for. How many. One whose state changes until the move, or which
 * is in the midst of something, gets its link at the move, as all did before.
 */
export async function prepareLinks(connections: ReadonlySet<Connection>, target: Target): Promise<number> {
  if (connections.size === 0) return 0
  const before = new Map([...connections].map((connection) => [connection, connection.link?.sent ?? 0]))
  await delay(LOOK_MS)
  const inUse = [...before].flatMap(([connection, sent]) =>
    connection.mode === 'serving' && (connection.link?.sent ?? 0) > sent ? [connection] : [],
  )
  let prepared = 0
  await eachOf(inUse, async (connection) => {
    const { state } = connection
    if (!isPlain(state) || connection.mode !== 'serving') return
    const link = await openLink(connection, target, performance.now() + OPEN_MS).catch(() => null)
    if (link === null) return
    dropPrepared(connection)
    if (isClosed(connection)) return void link.socket.destroy()
    const forget = setTimeout(() => dropPrepared(connection), KEEP_MS)
    connection.prepared = { link, state, target, forget }
    prepared += 1
  })
  return prepared
}

function isClosed({ mode }: Connection): boolean {
  return mode === 'closed'
}

/** What can be remembered by an engine that is still a replica, and is no different when it is none. */
function isPlain(state: ConnectionState): boolean {
  const { transaction, watches, tracking, unmovable } = state
  return transaction === null && !watches && tracking === null && unmovable === '' && !isSubscribed(state)
}

/** The link that was prepared, if it is still what the connection needs at this target. */
export function takePrepared(connection: Connection, { host, port }: Target): Connection['link'] {
  const { prepared } = connection
  if (prepared === null) return null
  const { link, state, target } = prepared
  const fits = state === connection.state && target.host === host && target.port === port
  if (!fits || link.socket.destroyed || link.socket.readableEnded) {
    dropPrepared(connection)
    return null
  }
  clearTimeout(prepared.forget)
  connection.prepared = null
  return link
}

export function dropPrepared(connection: Connection): void {
  const { prepared } = connection
  if (prepared === null) return
  clearTimeout(prepared.forget)
  connection.prepared = null
  prepared.link.socket.destroy()
}

import { setTimeout as delay } from 'node:timers/promises'
import { isSameAddress } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { forEachLimited } from '../connection/for-each-limited.ts'
import type { Link } from '../connection/link.ts'
import { type Admission, mayPrepare } from '../listen/admission.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { hasSameBase } from '../remembered/replay.ts'
import { openAhead, type Target } from './open-link.ts'

/** A client without a request for this long is prepared after the others. */
const LOOK_MS = 50
/** A link unused for this long was prepared for a role that did not move. */
const KEEP_MS = 5_000
const OPEN_MS = 1_000
/** A client without a prepared link by then gets its link at the move. */
const PREPARE_MS = 1_500
/** Links opened at the same time: few, because clients are served too. */
const AT_ONCE = 8

/**
 * Opens links at `target` before the hold, because connecting and setting state is most of what clients would
 * wait for. Connections in use come first, then subscribed or blocked, then idle ones, within the file limit;
 * state that only a primary accepts (subscriptions, an open transaction) is set at the move. Returns the
 * number ready.
 */
export async function prepareLinks(
  connections: ReadonlySet<Connection>,
  target: Target,
  admission: Admission,
): Promise<number> {
  if (connections.size === 0) return 0
  const before = new Map([...connections].map((connection) => [connection, connection.link?.sent ?? 0]))
  await delay(LOOK_MS)
  const untilMs = performance.now() + PREPARE_MS
  const urgency = (each: Connection) => {
    if ((each.link?.sent ?? 0) > (before.get(each) ?? 0)) return 0
    return isSubscribed(each.session.state) || each.input.blocked ? 1 : 2
  }
  const ordered = [0, 1, 2].flatMap((wanted) => [...before.keys()].filter((each) => urgency(each) === wanted))
  let ready = 0
  await forEachLimited(
    ordered,
    async (connection) => {
      if (await isPrepared(connection, target, admission, untilMs)) ready += 1
    },
    AT_ONCE,
  )
  return ready
}

async function isPrepared(
  connection: Connection,
  target: Target,
  admission: Admission,
  untilMs: number,
): Promise<boolean> {
  const {
    mode,
    session: { state },
    move: { prepared },
  } = connection
  if (prepared !== null && fits(connection, target)) {
    prepared.forget.refresh()
    return true
  }
  dropPrepared(connection)
  if (mode !== 'serving' || state.unmovable !== undefined) return false
  if (performance.now() > untilMs || !mayPrepare(admission)) return false
  admission.prepared += 1
  const link = await openAhead(connection, target, performance.now() + OPEN_MS).catch(() => null)
  if (link === null || isClosed(connection) || !hasSameBase(state, connection.session.state)) {
    link?.socket.destroy()
    admission.prepared -= 1
    return false
  }
  dropPrepared(connection)
  const forget = setTimeout(() => dropPrepared(connection), KEEP_MS)
  const leave = () => {
    clearTimeout(forget)
    connection.move.prepared = null
    admission.prepared -= 1
  }
  connection.move.prepared = { link, state, target, forget, leave }
  // Such a link receives nothing but its end: after that it cannot be used (`fits`).
  link.socket.resume()
  return true
}

function isClosed({ mode }: Connection): boolean {
  return mode === 'closed'
}

function fits({ move: { prepared }, session: { state } }: Connection, { host, port }: Target): boolean {
  if (prepared === null) return false
  const { link, target } = prepared
  if (link.socket.destroyed || link.socket.readableEnded) return false
  return hasSameBase(prepared.state, state) && isSameAddress(target, { host, port })
}

/** Returns the prepared link if it fits the connection and target; the rest of the state is not set yet. */
export function takePrepared(connection: Connection, target: Target): Link | null {
  const {
    move: { prepared },
  } = connection
  if (prepared === null) return null
  if (!fits(connection, target)) {
    dropPrepared(connection)
    return null
  }
  prepared.leave()
  return prepared.link
}

export function dropPrepared(connection: Connection): void {
  const {
    move: { prepared },
  } = connection
  if (prepared === null) return
  prepared.leave()
  prepared.link.socket.destroy()
}

import type { Connection } from '../connection/connection.ts'
import { forEachLimited } from '../connection/for-each-limited.ts'
import { hearsOfKeys } from '../connection/publish-barrier.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { askAgain, noticeQuiet } from './move-connection.ts'
import { connectOnce, type Target } from './open-link.ts'

const PROBE_MS = 500

/** Connections by order of moving. If a connection is in two lists, the first one counts. */
export interface MoveOrder {
  /** No client is served before these have moved: they would miss others' earlier writes. */
  readonly first: readonly Connection[]
  /** Their clients wait for a reply. */
  readonly asking: readonly Connection[]
  /** Like `asking`, but subscribed or blocked; each is in another list as well. */
  readonly impatient: readonly Connection[]
  /** Connections that must move before anything is published. */
  readonly listening: readonly Connection[]
  /** Subscribed, with missing replies: most likely their clients do not read. Also in `later`. */
  readonly slow: readonly Connection[]
  /** Connections that wait for others' data, have no request, or are delayed by their own client. */
  readonly later: readonly Connection[]
}

/** Adds connections that have changed: new ones, and those with a new request. */
export type Arrangement = (changed: Iterable<Connection>) => MoveOrder

/** Sorts `connections`, which are held. The result then examines only those whose place may have changed. */
export function arrange(connections: ReadonlySet<Connection>): Arrangement {
  const before = sort(connections)
  return (changed) => {
    const since = sort([...before.asking, ...before.unsure, ...changed])
    return {
      first: [...new Set([...before.first, ...since.first])].filter(({ mode }) => mode !== 'closed'),
      asking: [...new Set(since.asking)],
      impatient: [...before.impatient, ...since.impatient],
      listening: [...before.listening, ...since.listening],
      slow: [...new Set([...before.slow, ...since.slow])],
      later: [...before.blocked, ...since.blocked, ...before.later, ...since.later],
    }
  }
}

interface Sorted extends Record<Place, Connection[]> {
  impatient: Connection[]
  slow: Connection[]
  /** Connections with pending requests. */
  unsure: Connection[]
}

function sort(connections: Iterable<Connection>): Sorted {
  const sorted: Sorted = {
    first: [],
    asking: [],
    listening: [],
    blocked: [],
    later: [],
    impatient: [],
    slow: [],
    unsure: [],
  }
  for (const connection of connections) {
    if (connection.mode === 'closed') continue
    if (connection.mode !== 'held' && !noticeQuiet(connection)) {
      sorted.unsure.push(connection)
      if (isSubscribed(connection.session.state)) sorted.slow.push(connection)
    }
    const place = placeOf(connection)
    sorted[place].push(connection)
    if (connection.input.stash.length > 0 && place !== 'asking') sorted.impatient.push(connection)
  }
  return sorted
}

type Place = 'first' | 'asking' | 'listening' | 'blocked' | 'later'

function placeOf(connection: Connection): Place {
  const {
    mode,
    session: { state },
    input: { blocked, stash },
  } = connection
  if (!noticeQuiet(connection)) return 'later'
  if (state.unmovable !== undefined || mode === 'opening') return 'asking'
  if (hearsOfKeys(state) || (blocked && readsWhatComes(connection))) return 'first'
  if (isSubscribed(state)) return 'listening'
  if (blocked) return 'blocked'
  return stash.length > 0 ? 'asking' : 'later'
}

/** True if blocked on entries newer than the newest one: the engine picks that when the command arrives. */
export function readsWhatComes({ link, session: { again } }: Connection): boolean {
  const command = again?.command ?? link?.noted.first()?.command
  return command?.name === 'XREAD' && command.args.some((arg) => arg.length === 1 && NEWEST.has(arg[0] ?? 0))
}

/** `$` and `+` */
const NEWEST: ReadonlySet<number> = new Set([0x24, 0x2b])

/** Moves the connections that must move first. They stay held until they are resumed. */
export async function moveFirst(
  first: readonly Connection[],
  move: (connection: Connection) => Promise<void>,
  target: Target,
): Promise<void> {
  await forEachLimited(first, move)
  const waiting = first.filter(({ mode, session: { again } }) => mode === 'moving' && again !== null)
  for (const connection of waiting) askAgain(connection)
  if (waiting.length > 0) await hasReadEverything(target)
}

/**
 * Resolves when the engine has read everything sent before: an answer on a separate connection comes from a
 * later turn of its loop. The answer may be an error (NOAUTH).
 */
async function hasReadEverything(target: Target): Promise<void> {
  try {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = await connectOnce(target, performance.now() + PROBE_MS, () => resolve())
    const timer = setTimeout(resolve, PROBE_MS)
    socket.on('close', () => resolve())
    socket.write('PING\r\n')
    await promise
    clearTimeout(timer)
    socket.destroy()
  } catch {
    // The engine is unreachable: its connections will notice.
  }
}

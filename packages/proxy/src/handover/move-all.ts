import type { Connection } from '../connection/connection.ts'
import { forEachLimited } from '../connection/for-each-limited.ts'
import { hearsOfKeys } from '../connection/publish-barrier.ts'
import { wordAt } from '../remembered/command.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { askAgain, noticeQuiet } from './move-connection.ts'
import { connectOnce, type Target } from './open-link.ts'

const PROBE_MS = 500

/** The connections of an endpoint, by what waits for what when the role has moved. One may be in two lists: the first of them counts. */
export interface Arranged {
  /** Before these are there no client is served: they would miss what others write first. */
  readonly first: readonly Connection[]
  /** Their clients have asked something and wait for it. */
  readonly asking: readonly Connection[]
  /** Their clients, too; but these are subscribed or blocked, and stand in one of the other lists as well. */
  readonly impatient: readonly Connection[]
  /** Before these are there nothing is published. */
  readonly listening: readonly Connection[]
  /** They wait for what others do, and find it whenever they come; those that asked nothing; those that wait for their own clients. */
  readonly later: readonly Connection[]
}

/** Takes those that have changed since: that came, or asked something. */
export type Arrangement = (changed: Iterable<Connection>) => Arranged

/** Looks at all of `connections`, which are held. What this gives looks only at those that may have got another place since. */
export function arrange(connections: ReadonlySet<Connection>): Arrangement {
  const before = sort(connections)
  return (changed) => {
    const since = sort([...before.asking, ...before.unsure, ...changed])
    return {
      first: [...new Set([...before.first, ...since.first])].filter(({ mode }) => mode !== 'closed'),
      asking: [...new Set(since.asking)],
      impatient: [...before.impatient, ...since.impatient],
      listening: [...before.listening, ...since.listening],
      later: [...before.blocked, ...since.blocked, ...before.later, ...since.later],
    }
  }
}

interface Sorted extends Record<Place, Connection[]> {
  impatient: Connection[]
  /** Something is still under way on them. */
  unsure: Connection[]
}

function sort(connections: Iterable<Connection>): Sorted {
  const sorted: Sorted = {
    ...{ first: [], asking: [], listening: [], blocked: [], later: [] },
    ...{ impatient: [], unsure: [] },
  }
  for (const connection of connections) {
    if (connection.mode === 'closed') continue
    if (connection.mode !== 'held' && !noticeQuiet(connection)) sorted.unsure.push(connection)
    const place = placeOf(connection)
    sorted[place].push(connection)
    if (connection.stash.length > 0 && place !== 'asking') sorted.impatient.push(connection)
  }
  return sorted
}

type Place = 'first' | 'asking' | 'listening' | 'blocked' | 'later'

function placeOf(connection: Connection): Place {
  const { mode, state, blocked, stash } = connection
  if (!noticeQuiet(connection)) return 'later'
  if (state.unmovable !== undefined || mode === 'opening') return 'asking'
  if (hearsOfKeys(state) || (blocked && readsWhatComes(connection))) return 'first'
  if (isSubscribed(state)) return 'listening'
  if (blocked) return 'blocked'
  return stash.length > 0 ? 'asking' : 'later'
}

/** It is blocked and waits for entries that are newer than the newest: which that is, the engine says when it is asked. */
export function readsWhatComes({ again, link }: Connection): boolean {
  const command = again?.command ?? link?.noted.first()?.command
  return command?.name === 'XREAD' && command.args.some((_, at) => newest.has(wordAt(command, at)))
}

const newest: ReadonlySet<string> = new Set(['$', '+'])

/** Moves those that are to be there first. They are held until they are resumed. */
export async function moveFirst(
  first: readonly Connection[],
  move: (connection: Connection) => Promise<void>,
  target: Target,
): Promise<void> {
  await forEachLimited(first, move)
  const waiting = first.filter(({ again, mode }) => mode === 'moving' && again !== null)
  for (const connection of waiting) askAgain(connection)
  if (waiting.length > 0) await hasReadEverything(target)
}

/**
 * What was sent to the engine before this began has been read when it ends: an answer on a connection of its own comes
 * from a later turn of the engine's loop. That the answer may be an error (NOAUTH) does not matter.
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
    // It cannot be reached any more: its connections will notice that themselves.
  }
}

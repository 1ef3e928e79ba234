import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { isLate } from '../connection/is-late.ts'
import { isOnlyBlocked, isPartlySent } from '../connection/under-way.ts'
import { retaken } from '../remembered/commands.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { readsWhatComes } from './move-all.ts'

/** An engine that is demoted gives up fewer than these in less than half a millisecond. */
const FEWEST = 50
/** A hold follows within milliseconds. When none has come by then, their commands are asked again where they were. */
export const HOLD_COMES_MS = 1_000

/**
 * Blocking commands that are given up before a hold. An engine that is demoted gives up all that block, each with an error: 3,000 take it 15 ms,
 * and writes are stopped meanwhile. It can be made to give up some before (`CLIENT UNBLOCK … ERROR`), between two other commands:
 * each was carried out and is answered, or was not. Its client then waits here until the role has moved.
 */
export interface GivenUp {
  /** Connections on which nothing but such a command is under way, by our end of their links; none when they are few. */
  candidates(): readonly string[]
  /** Its engine has given it up. Whether it waits for the hold from now on. */
  take(connection: Connection): boolean
  /**
   * Its command was answered. When it was to be given up, the connection waits for the hold: the order to its engine
   * names the connection, and would end the next blocking command, too.
   */
  keep(connection: Connection): void
  /** A hold has begun: they are held like all others. */
  join(): void
  /** None comes: they are asked again. */
  end(): void
}

/** Of these connections; `proceed` is called with each that may ask again. */
export function createGivenUp(
  connections: ReadonlySet<Connection>,
  proceed: (connection: Connection) => void,
): GivenUp {
  let timer: NodeJS.Timeout | null = null
  let waiting: Connection[] = []
  const join = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const all = waiting
    waiting = []
    return all
  }
  const hold = (connection: Connection) => {
    connection.mode = 'held'
    waiting.push(connection)
  }
  // They stay marked, until they are answered: the order to give them up may be late, and their clients must not see its error.
  const end = () => {
    for (const connection of join()) if (!isLate(connection)) proceed(connection)
  }
  return {
    candidates() {
      const blocked = [...connections].filter(mayBeGivenUp)
      if (blocked.length < FEWEST) return []
      for (const connection of blocked) connection.mayBeGivenUp = true
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(end, HOLD_COMES_MS).unref()
      return blocked.map(({ via }) => via?.address ?? '')
    },
    take(connection) {
      if (timer === null || connection.mode !== 'serving' || connection.again?.keepsLink !== true)
        return false
      hold(connection)
      return true
    },
    keep(connection) {
      connection.mayBeGivenUp = false
      if (timer !== null && connection.mode === 'serving') hold(connection)
    },
    join: () => void join(),
    end,
  }
}

/** What else its engine would have to tell it meanwhile, it would miss: messages, invalidations, whether a watched key has changed. */
function mayBeGivenUp(connection: Connection): boolean {
  const { mode, state, link, again, clientEnded } = connection
  if (mode !== 'serving' || again !== null || clientEnded || isLate(connection)) return false
  if (!isOnlyBlocked(connection) || isPartlySent(connection) || readsWhatComes(connection)) return false
  if (isSubscribed(state) || state.tracking.length > 0 || state.watches || state.unmovable !== undefined)
    return false
  const head = link?.noted.first()
  if (link === null || !isBetweenReplies(link.replies) || head?.blocks !== true) return false
  return retaken.has(head.command.name) && !head.command.cutShort
}

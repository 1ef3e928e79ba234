import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { isLate } from '../connection/is-late.ts'
import { isOnlyBlocked, isPartlySent } from '../connection/under-way.ts'
import { retaken } from '../remembered/commands.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { readsWhatComes } from './move-all.ts'

/** A demoted engine ends fewer than these in less than 0.5 ms. */
const FEWEST = 50
/** A hold follows within milliseconds. If none has come by then, the commands are sent again. */
export const HOLD_COMES_MS = 1_000

/**
 * Blocking commands ended before a hold. A demoted engine ends all of them with an error while writes are
 * stopped: 15 ms for 3,000. Some can be ended before (`CLIENT UNBLOCK … ERROR`); their clients wait here
 * until the role has moved.
 */
export interface UnblockedClients {
  /** Returns connections with only a blocking command pending (proxy's ends of their links); empty if few. */
  candidates(): readonly string[]
  /** Called when the engine has ended its command. Returns true if it waits for the hold. */
  take(connection: Connection): boolean
  /**
   * Called when its command was answered instead. It then waits for the hold: the late CLIENT UNBLOCK would
   * end its next blocking command.
   */
  keep(connection: Connection): void
  /** Called when a hold begins: they are held like all others. */
  join(): void
  /** Called if no hold comes: their commands are sent again. */
  end(): void
}

/** Watches `connections`. `proceed`: called with each that may send its command again. */
export function createUnblockedClients(
  connections: ReadonlySet<Connection>,
  proceed: (connection: Connection) => void,
): UnblockedClients {
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
  // They stay marked until answered: the order to end them may be late, and clients must not see its error.
  const end = () => {
    for (const connection of join()) if (!isLate(connection)) proceed(connection)
  }
  return {
    candidates() {
      const blocked = [...connections].filter(mayBeGivenUp)
      if (blocked.length < FEWEST) return []
      for (const connection of blocked) connection.move.mayBeGivenUp = true
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(end, HOLD_COMES_MS).unref()
      return blocked.map(({ via }) => via?.address ?? '')
    },
    take(connection) {
      if (timer === null || connection.mode !== 'serving' || connection.session.again?.keepsLink !== true)
        return false
      hold(connection)
      return true
    },
    keep(connection) {
      connection.move.mayBeGivenUp = false
      if (timer !== null && connection.mode === 'serving') hold(connection)
    },
    join: () => void join(),
    end,
  }
}

/** False if the client would miss messages, invalidations, or a changed watched key of its engine. */
function mayBeGivenUp(connection: Connection): boolean {
  const {
    mode,
    link,
    session: { state, again },
    input: { clientEnded },
  } = connection
  if (mode !== 'serving' || again !== null || clientEnded || isLate(connection)) return false
  if (!isOnlyBlocked(connection) || isPartlySent(connection) || readsWhatComes(connection)) return false
  if (isSubscribed(state) || state.tracking.length > 0 || state.watches || state.unmovable !== undefined)
    return false
  const head = link?.noted.first()
  if (link === null || !isBetweenReplies(link.replies) || head?.blocks !== true) return false
  return retaken.has(head.command.name) && !head.command.cutShort
}

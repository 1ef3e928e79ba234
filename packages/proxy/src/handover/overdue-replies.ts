import type { HoldResult } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { LONGEST_SERIES_MS } from '../connection/put-off.ts'
import { MISCOUNTED, tryLink } from '../forwarding/trial.ts'
import { askWhetherServing, type Serving } from './ask-whether-serving.ts'
import type { Hold } from './hold.ts'
import { loginsOf } from './logins-of.ts'
import type { Place } from './open-link.ts'
import {
  ASKED_AFTER,
  excused,
  isNeverToCome,
  LONGEST_OVERDUE_MS,
  LONGEST_UNTOLD_MS,
  type Overdue,
  stillOverdue,
  uncounted,
} from './overdue.ts'

/** The connections of an upstream whose replies did not come in time for the last holds. */
export interface OverdueReplies {
  /**
   * Waits so long for the replies. Where they did not come, the result says how often the same connection was in the way, in a row.
   * `isOverdue`: holds have failed for minutes, whichever client was in the way. Then those whose replies do not come, though the engine
   * answers others, are closed, so that this hold does not fail for them.
   */
  drain(
    hold: Pick<Hold, 'drained' | 'unanswered' | 'ms'>,
    withinMs: number,
    isOverdue: boolean,
  ): Promise<HoldResult>
  /** Closes the connections whose replies will not come. Answers how many were closed since the last time. */
  settle(): Promise<number>
}

const TOO_LONG = `ERR no reply to this request has come for ${LONGEST_OVERDUE_MS / 60_000} minutes while others were answered, and an upgrade waited for it`

const OVERDUE = `ERR no reply to this request has come, and an upgrade waited for such replies for ${LONGEST_SERIES_MS / 60_000} minutes`

/** The reason that is shown if an engine cannot be asked whether it answers others. */
const UNTOLD = 'it cannot be told whether the engine answers others: it takes no login of a client'

interface LateReply {
  readonly overdue: Overdue
  readonly link: Link
}

/** Asks the shard at `target`, as clients of `connections`, for their missing replies; starts empty. `onUntold`: called if it cannot be asked. */
export function createOverdueReplies(
  target: () => Place,
  connections: ReadonlySet<Connection>,
  onUntold: (why: string) => void,
): OverdueReplies {
  let late: ReadonlyMap<Connection, LateReply> = new Map()
  let asking: Promise<void> = Promise.resolve()
  const question = createQuestion(target, connections, onUntold)
  const ask = async (): Promise<void> => {
    const serving = await question.ask()
    const judged = (overdue: Overdue) =>
      serving === 'busy' ? excused(overdue, performance.now()) : uncounted(overdue)
    if (serving !== 'serving')
      late = new Map([...late].map(([each, { overdue, link }]) => [each, { overdue: judged(overdue), link }]))
    for (const [connection, { overdue }] of late) if (overdue.times >= ASKED_AFTER) tryLink(connection)
  }
  /** What a hold has come to. Where it has failed for replies that did not come, the engine is asked what keeps them. */
  const note = (result: HoldResult, hold: Pick<Hold, 'unanswered'>): HoldResult => {
    const unanswered = result.drained ? [] : hold.unanswered()
    const nowMs = performance.now()
    const before = late
    const now = new Map<Connection, LateReply>()
    for (const connection of unanswered) {
      const { link } = connection
      if (link === null) continue
      const known = before.get(connection)
      const overdue = stillOverdue(known?.link === link ? known.overdue : null, link.answered + 1, nowMs)
      now.set(connection, { overdue, link })
    }
    // `settle` counts the connections that were closed since.
    for (const [connection, reply] of before) if (isMiscounted(connection)) now.set(connection, reply)
    late = now
    if (unanswered.length > 0) asking = asking.then(ask)
    const tries = Math.max(0, ...Array.from(now.values(), ({ overdue }) => overdue.times))
    const why = !question.isUntold() || now.size === 0 ? result.why : `${result.why}; ${UNTOLD}`
    return tries > 0 ? { ...result, why, tries } : result
  }
  return {
    async drain(hold, withinMs, isOverdue) {
      const first = await hold.drained(withinMs)
      const cut = first.drained || !isOverdue ? 0 : await endUnanswered(hold, question.ask)
      return cut === 0
        ? note(first, hold)
        : { ...note(await hold.drained(withinMs), hold), ms: hold.ms(), cut }
    },
    async settle() {
      await asking
      const { left, closed } = closeHopeless(late, performance.now())
      late = left
      return closed
    },
  }
}

/** Closes connections whose replies will not come. `left`: the connections that are still waited for. */
function closeHopeless(
  late: ReadonlyMap<Connection, LateReply>,
  nowMs: number,
): { readonly left: ReadonlyMap<Connection, LateReply>; readonly closed: number } {
  const left = new Map<Connection, LateReply>()
  let closed = 0
  for (const [connection, reply] of late) {
    if (isMiscounted(connection)) closed += 1
    else if (connection.mode !== 'closed' && connection.link === reply.link) {
      if (isNeverToCome(reply.overdue, nowMs)) {
        endConnection(connection, TOO_LONG)
        closed += 1
      } else left.set(connection, reply)
    }
  }
  return { left, closed }
}

/** Whether the shard at `target` answers clients, asked as `connections`. If this cannot be found out for long, it counts as yes. */
function createQuestion(
  target: () => Place,
  connections: ReadonlySet<Connection>,
  onUntold: (why: string) => void,
) {
  /** When the first question failed because no client's login was valid; null: the last question was answered. */
  let untoldMs: number | null = null
  return {
    isUntold: () => untoldMs !== null,
    async ask(): Promise<Serving> {
      const serving = await askWhetherServing(target(), loginsOf([{ connections }]))
      const nowMs = performance.now()
      if (serving !== 'untold') {
        untoldMs = null
        return serving
      }
      if (untoldMs === null) onUntold(UNTOLD)
      untoldMs ??= nowMs
      return nowMs - untoldMs >= LONGEST_UNTOLD_MS ? 'serving' : 'untold'
    },
  }
}

/** Closes the connections whose replies do not come although the engine serves others. Answers how many were closed. */
async function endUnanswered(hold: Pick<Hold, 'unanswered'>, askIt: () => Promise<Serving>): Promise<number> {
  const due = hold.unanswered()
  if (due.length === 0 || (await askIt()) !== 'serving') return 0
  // Requests that only waited for a script have been answered now.
  const left = new Set(hold.unanswered())
  const never = due.filter((connection) => left.has(connection))
  for (const connection of never) endConnection(connection, OVERDUE)
  return never.length
}

function isMiscounted({ mode, cutBecause }: Connection): boolean {
  return mode === 'closed' && cutBecause === MISCOUNTED
}

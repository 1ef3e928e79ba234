import type { HoldResult } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import { LONGEST_SERIES_MS } from '../connection/handover-delay.ts'
import type { Link } from '../connection/link.ts'
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

/** Connections whose missing replies delayed the last holds. */
export interface OverdueReplies {
  /**
   * Waits for replies; on failure `tries` is how often in a row the same connection delayed holds.
   * `isOverdue`: holds have failed for minutes. Then, if the engine answers others, connections with missing
   * replies are closed so that this hold succeeds.
   */
  drain(
    hold: Pick<Hold, 'drained' | 'unanswered' | 'ms'>,
    withinMs: number,
    isOverdue: boolean,
  ): Promise<HoldResult>
  /** Closes connections whose replies will not come. Returns the number closed since the last call. */
  settle(): Promise<number>
}

const TOO_LONG = `ERR no reply to this request has come for ${LONGEST_OVERDUE_MS / 60_000} minutes while others were answered, and an upgrade waited for it`

const OVERDUE = `ERR no reply to this request has come, and an upgrade waited for such replies for ${LONGEST_SERIES_MS / 60_000} minutes`

/** Reason shown if the engine cannot be asked about other clients. */
const UNTOLD = 'it cannot be told whether the engine answers others: it takes no login of a client'

interface LateReply {
  readonly overdue: Overdue
  readonly link: Link
}

/** Asks the shard at `target`, as its clients, about missing replies. `onUntold`: called if that fails. */
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
  /** Notes the result of a hold. If it failed for missing replies, asks the engine for the cause. */
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

/** Closes connections whose replies will not come. `left`: those still waited for. */
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

/** Asks if the shard at `target` answers clients. If that stays unknown for too long, it counts as yes. */
function createQuestion(
  target: () => Place,
  connections: ReadonlySet<Connection>,
  onUntold: (why: string) => void,
) {
  /** Time of the first question without a valid login; null if the last one was answered. */
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

/** Closes connections with missing replies if the engine serves others. Returns the number closed. */
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

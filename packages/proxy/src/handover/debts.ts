import type { HoldResult } from '@fairlead/api'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { LONGEST_SERIES_MS } from '../connection/put-off.ts'
import { MISCOUNTED, tryLink } from '../forwarding/trial.ts'
import { askWhetherServing } from './ask-whether-serving.ts'
import type { Hold } from './hold.ts'
import type { Target } from './open-link.ts'
import { ASKED_AFTER, excused, isNeverToCome, LONGEST_OWED_MS, type Owed, owedAgain } from './owed.ts'

/** The connections of an upstream whose replies did not come in time for a hold, the last times. */
export interface Debts {
  /**
   * Waits so long for the replies. Where they did not come, the result says how often the same connection was in the way, in a row. `isOverdue`: holds have failed for minutes, whichever client was in the way. Then those whose replies do not
   * come, though the engine answers others, are closed, so that this hold does not fail for them.
   */
  drain(
    hold: Pick<Hold, 'drained' | 'unanswered' | 'ms'>,
    withinMs: number,
    isOverdue: boolean,
  ): Promise<HoldResult>
  /** Closes those whose replies will not come. How many were closed, since the last time. */
  settle(): Promise<number>
}

const TOO_LONG = `ERR no reply to this request has come for ${LONGEST_OWED_MS / 60_000} minutes while others were answered, and an upgrade waited for it`

const OVERDUE = `ERR no reply to this request has come, and an upgrade waited for such replies for ${LONGEST_SERIES_MS / 60_000} minutes`

interface Debt {
  readonly owed: Owed
  readonly link: Link
}

/** Asks the shard at `target` what it still owes connections; nothing was asked yet. */
export function createDebts(target: () => Target): Debts {
  let debts: ReadonlyMap<Connection, Debt> = new Map()
  let asking: Promise<void> = Promise.resolve()

  const ask = async (): Promise<void> => {
    const login = [...debts.keys()].find(({ state }) => state.login !== null)?.state.login ?? null
    const isServing = await askWhetherServing(target(), login)
    const nowMs = performance.now()
    if (!isServing)
      debts = new Map(
        [...debts].map(([connection, { owed, link }]) => [connection, { owed: excused(owed, nowMs), link }]),
      )
    for (const [connection, { owed }] of debts) if (owed.times >= ASKED_AFTER) tryLink(connection)
  }
  /** What a hold has come to. Where it has failed for replies that did not come, the engine is asked what keeps them. */
  const note = (result: HoldResult, hold: Pick<Hold, 'unanswered'>): HoldResult => {
    const unanswered = result.drained ? [] : hold.unanswered()
    const nowMs = performance.now()
    const before = debts
    const now = new Map<Connection, Debt>()
    for (const connection of unanswered) {
      const { link } = connection
      if (link === null) continue
      const known = before.get(connection)
      const owed = owedAgain(known?.link === link ? known.owed : null, link.answered + 1, nowMs)
      now.set(connection, { owed, link })
    }
    // Those that were closed since are counted by `settle`.
    for (const [connection, debt] of before) if (isMiscounted(connection)) now.set(connection, debt)
    debts = now
    if (unanswered.length > 0) asking = asking.then(ask)
    const tries = Math.max(0, ...Array.from(now.values(), ({ owed }) => owed.times))
    return tries > 0 ? { ...result, tries } : result
  }
  return {
    async drain(hold, withinMs, isOverdue) {
      const first = await hold.drained(withinMs)
      const cut = first.drained || !isOverdue ? 0 : await endUnanswered(hold, target)
      return cut === 0
        ? note(first, hold)
        : { ...note(await hold.drained(withinMs), hold), ms: hold.ms(), cut }
    },
    async settle() {
      await asking
      let closed = 0
      const left = new Map<Connection, Debt>()
      for (const [connection, debt] of debts) {
        if (isMiscounted(connection)) closed += 1
        else if (connection.mode !== 'closed' && connection.link === debt.link) {
          if (isNeverToCome(debt.owed, performance.now())) {
            endConnection(connection, TOO_LONG)
            closed += 1
          } else left.set(connection, debt)
        }
      }
      debts = left
      return closed
    },
  }
}

/** Closes those whose replies do not come though the engine serves others. How many were closed. */
async function endUnanswered(hold: Pick<Hold, 'unanswered'>, target: () => Target): Promise<number> {
  const due = hold.unanswered()
  const login = due.find(({ state }) => state.login !== null)?.state.login ?? null
  if (due.length === 0 || !(await askWhetherServing(target(), login))) return 0
  // What was only behind a script has been answered by now.
  const left = new Set(hold.unanswered())
  const never = due.filter((connection) => left.has(connection))
  for (const connection of never) endConnection(connection, OVERDUE)
  return never.length
}

function isMiscounted({ mode, cutBecause }: Connection): boolean {
  return mode === 'closed' && cutBecause === MISCOUNTED
}

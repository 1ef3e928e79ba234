import { checkLoadOptions, type LoadOptions } from './check-load-options.ts'
import type { Gap } from './gaps.ts'
import type { Address } from './layout.ts'
import { openLoadProcess } from './load-process.ts'
import type { LedgerReport } from './load-report.ts'
import type { Verdict } from './read-back.ts'

/** A load that runs in a process of its own. Disposing of it ends that process, and the ledger with it. */
export interface Load extends AsyncDisposable {
  /** All keys of this load begin with it. */
  readonly prefix: string
  /**
   * The slots of each group when the load began, as the API writes them. Connection i writes to group i mod
   * n.
   */
  readonly groups: readonly string[]
  /** The load's process, to measure what the load itself costs. */
  readonly pid: number
  /** Writes acknowledged so far, at most about 20 ms old. Throws when the load's process has ended. */
  acked(): number
  /** Acknowledged writes a second, over the last second. */
  perSecond(): number
  /**
   * Resolves when `count` writes have been acknowledged in all; throws when they are not within `withinMs`.
   */
  untilAcked(
    count: number,
    options?: { readonly withinMs?: number; readonly signal?: AbortSignal },
  ): Promise<void>
  /** Renews the token that the primary is looked up with. */
  setToken(token: string): Promise<void>
  /**
   * The longest time without any acknowledged write that touches the window, whole, in ms; 0 is none of 3 ms
   * or more. Of all writes, or of those to one group, by its place in `groups`. Unix ms, as
   * `performance.timeOrigin + performance.now()` tells. Answers when the window has passed.
   */
  longestGapMs(window: Gap, of?: { readonly group?: number }): Promise<number>
  /**
   * Sends no further command, waits for outstanding answers, and reports. A second call gets the same report.
   */
  stop(): Promise<LedgerReport>
  /**
   * After stop(): reads every acknowledged write back, from the primaries that the API names; or from
   * `address` those of the slots that the API says it holds, and counts only these. At an `address`, a
   * replica, what is missing is looked for again for 3 s, since a replica may trail.
   */
  readBack(options?: { readonly address?: Address }): Promise<Verdict>
}

const START_WITHIN_MS = 90_000
const ANSWER_WITHIN_MS = 70_000
const READ_BACK_WITHIN_MS = 300_000

/**
 * Puts the database that `options.lookup` names under load. Resolves when every client is logged in and
 * writes. Throws one Error that names the fix: a field of the options, the API's answer, the login.
 */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const checked = checkLoadOptions(options)
  const child = openLoadProcess()
  let groups: readonly string[]
  try {
    groups = await child.ask('start', checked, START_WITHIN_MS)
  } catch (cause) {
    await child[Symbol.asyncDispose]()
    throw cause
  }

  return {
    prefix: checked.prefix,
    groups,
    pid: child.pid,
    acked: child.acked,
    perSecond: child.perSecond,
    untilAcked: (count, { withinMs = 60_000, signal } = {}) => child.untilAcked(count, withinMs, signal),
    async setToken(token) {
      await child.ask('token', token, ANSWER_WITHIN_MS)
    },
    longestGapMs: (window, of = {}) => child.ask('gap', { ...window, ...of }, ANSWER_WITHIN_MS),
    stop: () => child.ask('stop', null, checked.replyWithinMs + ANSWER_WITHIN_MS),
    readBack: (from = {}) => child.ask('readBack', from, READ_BACK_WITHIN_MS),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

import type { LoopTurns, ProxyState } from '@fairlead/api'
import { backOffMs } from '../process/decide-restart.ts'
import type { Activity } from '../process/watch-activity.ts'
import { seconds, whySlow, whyStuck } from './decide-stuck.ts'

/** Result of one look at the proxy. Times in ms; `at` values in Unix ms. */
export interface ProxyObservation {
  readonly now: number
  /** The last process, as recorded; null if none was started yet. */
  readonly last: {
    readonly started: boolean
    readonly startedAt: number
    readonly answered: boolean
    readonly ended: { readonly at: number; readonly how: 'stopped' | 'died'; readonly why: string } | null
    readonly crashes: number
    readonly streak: number
  } | null
  /** State of that process. Its silence counts from the first question without an answer. */
  readonly answer: 'answers' | 'gone' | ProxySilence
  /** True if its death wakes the agent. */
  readonly isChild: boolean
  /** A process that does nothing for this long is killed. */
  readonly hungAfterMs: number
}

/** State of a proxy that does not answer its orders. */
export interface ProxySilence {
  readonly silentMs: number
  readonly activity: Activity
  /** Answer of its heartbeat thread, or how long that is silent, too. */
  readonly turns: readonly LoopTurns[] | { readonly muteMs: number }
}

/**
 * If its loops work but it accepts no orders, it is ended after this many hungAfterMs, because it cannot
 * learn where a database has moved.
 */
const DEAF_FACTOR = 15

/** A loop answers between pieces of work: if one takes this many hungAfterMs, it never ends. */
const STUCK_FACTOR = 3

/** Next action for the proxy process, with the reason. */
export type NextOfProxy =
  | { readonly kind: 'start' | 'kill' | 'record-exit' | 'mark-ready'; readonly why: string }
  /** No action: look again after `afterMs`. */
  | {
      readonly kind: 'rest'
      readonly state: ProxyState['state']
      readonly afterMs: number
      readonly why: string
    }

/** Without the proxy its clients have no service: even an agent that is not its parent must notice soon. */
const SETTLED_MS = 100
/** For one that answers and whose death would wake its parent. It is asked once a second. */
const SETTLED_CHILD_MS = 500
const STARTING_MS = 20
/** A proxy loads no data, and its clients wait: shorter than the longest pause for engines. */
const LONGEST_BACK_OFF_MS = 5_000

/**
 * Decides the next action for the proxy, which is always wanted. `record-exit`: record its end; `mark-ready`:
 * record its first answer. `rest`: nothing to do, or wait.
 */
export function decideProxy({ now, last, answer, isChild, hungAfterMs }: ProxyObservation): NextOfProxy {
  if (!last) return { kind: 'start', why: 'there was none yet' }
  if (last.ended) return decideEnded(now, last, last.ended)
  if (!last.started) return { kind: 'start', why: 'the start was interrupted' }
  if (answer === 'gone') return { kind: 'record-exit', why: 'its process is gone' }
  const ends = answer === 'answers' ? undefined : whyEnded(answer, hungAfterMs)
  if (ends !== undefined) return { kind: 'kill', why: ends }
  if (answer === 'answers' && !last.answered) return { kind: 'mark-ready', why: 'it answers' }
  return {
    kind: 'rest',
    state: last.answered ? 'running' : 'starting',
    afterMs: last.answered ? settledMs(isChild && answer === 'answers') : STARTING_MS,
    why: answer === 'answers' ? '' : whySilent(answer),
  }
}

function settledMs(isHeard: boolean): number {
  return isHeard ? SETTLED_CHILD_MS : SETTLED_MS
}

/**
 * Returns why it must be ended, only if it is really stuck, because its clients lose their connections.
 * Undefined otherwise, also while it waits for the disk, where no signal reaches it.
 */
function whyEnded({ silentMs, activity, turns }: ProxySilence, hungAfterMs: number): string | undefined {
  if (!('muteMs' in turns))
    return (
      whyStuck(turns, hungAfterMs) ??
      (silentMs < hungAfterMs * DEAF_FACTOR
        ? undefined
        : `took no orders for ${seconds(silentMs)}, though its loops went on, and was killed`)
    )
  return whyMute(turns.muteMs, activity, hungAfterMs)
}

/** The heartbeat thread is silent, too: only the activity of the whole process is known. */
function whyMute(silentMs: number, { doing, idleMs }: Activity, hungAfterMs: number): string | undefined {
  if (doing === 'disk') return undefined
  if (doing === 'works')
    return silentMs < hungAfterMs * STUCK_FACTOR
      ? undefined
      : `did not answer for ${seconds(silentMs)} while it used the processor, and was killed`
  if (Math.min(idleMs, silentMs) < hungAfterMs) return undefined
  const did = doing === 'stopped' ? 'was stopped by a signal or a debugger' : 'did nothing'
  return `did not answer for ${seconds(silentMs)} while it ${did}, and was killed`
}

function whySilent({ silentMs, turns }: ProxySilence): string {
  if (silentMs < 1_000) return ''
  const silent = `has not answered for ${seconds(silentMs)}`
  return 'muteMs' in turns ? silent : `${silent}: ${whySlow(turns)}`
}

function decideEnded(
  now: number,
  last: NonNullable<ProxyObservation['last']>,
  ended: NonNullable<NonNullable<ProxyObservation['last']>['ended']>,
): NextOfProxy {
  if (ended.how === 'stopped') return { kind: 'start', why: 'it was stopped together with the agent' }
  const backOff = Math.min(LONGEST_BACK_OFF_MS, backOffMs(last.streak))
  // Limited, because the clock may have been set back.
  const afterMs = Math.min(backOff, ended.at + backOff - now)
  if (afterMs <= 0) return { kind: 'start', why: `back-off of ${backOff} ms is over` }
  // A proxy that never answered probably will not next time; it is still tried.
  const state = last.answered ? 'exited' : 'failed'
  return { kind: 'rest', state, afterMs, why: ended.why }
}

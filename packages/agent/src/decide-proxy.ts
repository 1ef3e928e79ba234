import type { ProxyState } from '@fairlead/api'
import type { ProxyAnswer } from './ask-proxy.ts'
import { backOffMs } from './decide-restart.ts'

/** What one look at the proxy has shown. Times in milliseconds; `at` ones since 1970. */
export interface ProxySight {
  readonly now: number
  /** The last process, as recorded; null when none was started yet. */
  readonly last: {
    readonly started: boolean
    readonly startedAt: number
    readonly answered: boolean
    readonly ended: { readonly at: number; readonly how: 'stopped' | 'died'; readonly why: string } | null
    readonly crashes: number
    readonly streak: number
  } | null
  /** Is that process there, and what does it say? */
  readonly answer: ProxyAnswer | 'gone'
  readonly hungAfterMs: number
}

export type NextOfProxy =
  | { readonly kind: 'start' | 'kill' | 'bury' | 'welcome'; readonly why: string }
  /** Nothing to do: look again after `afterMs`. */
  | {
      readonly kind: 'rest'
      readonly state: ProxyState['state']
      readonly afterMs: number
      readonly why: string
    }

/** Clients of a dead proxy have nobody: its death is to be seen soon, also by an agent that is not its parent. */
const SETTLED_MS = 100
const STARTING_MS = 20
/** A proxy has no data to lose or to load, and its clients wait: shorter than the longest pause for engines. */
const LONGEST_BACK_OFF_MS = 5_000

/**
 * Decides the next thing to do for the proxy, which is always wanted. `bury`: record how the process ended. `welcome`:
 * it answers for the first time. `rest`: all is as it should be, or waits.
 */
export function decideProxy({ now, last, answer, hungAfterMs }: ProxySight): NextOfProxy {
  if (!last) return { kind: 'start', why: 'there was none yet' }
  if (last.ended) return decideEnded(now, last, last.ended)
  if (!last.started) return { kind: 'start', why: 'the start was interrupted' }
  if (answer === 'gone') return { kind: 'bury', why: 'its process is gone' }
  const silentMs = answer === 'answers' ? 0 : answer.silentMs
  if (silentMs >= hungAfterMs)
    return { kind: 'kill', why: `did not answer for ${seconds(silentMs)} and was killed` }
  if (answer === 'answers' && !last.answered) return { kind: 'welcome', why: 'it answers' }
  return {
    kind: 'rest',
    state: last.answered ? 'running' : 'starting',
    afterMs: last.answered ? SETTLED_MS : STARTING_MS,
    why: silentMs < 1_000 ? '' : `has not answered for ${seconds(silentMs)}`,
  }
}

function decideEnded(
  now: number,
  last: NonNullable<ProxySight['last']>,
  ended: NonNullable<NonNullable<ProxySight['last']>['ended']>,
): NextOfProxy {
  if (ended.how === 'stopped') return { kind: 'start', why: 'it was stopped together with the agent' }
  const backOff = Math.min(LONGEST_BACK_OFF_MS, backOffMs(last.streak))
  // Bounded, for the clock may have been set back meanwhile.
  const afterMs = Math.min(backOff, ended.at + backOff - now)
  if (afterMs <= 0) return { kind: 'start', why: `back-off of ${backOff} ms is over` }
  // One that never answered will hardly do so the next time; it is tried all the same.
  const state = last.answered ? 'exited' : 'failed'
  return { kind: 'rest', state, afterMs, why: ended.why }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

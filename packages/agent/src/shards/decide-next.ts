import type { ShardReport, ShardSpec } from '@fairlead/api'
import type { Answer } from '../engine/ask-engine.ts'
import { decideSilent, type SilentVerdict } from '../engine/decide-silent.ts'
import { backOffMs } from '../process/decide-restart.ts'

/** Result of one look at a shard. Times in ms; `at` values in Unix ms. */
export interface Observation {
  readonly now: number
  readonly wanted: {
    readonly order: number
    readonly gone: boolean
    readonly onCrash: ShardSpec['onCrash']
  }
  /** The last process, as recorded; null if none was started yet. */
  readonly last: {
    readonly order: number
    readonly started: boolean
    readonly startedAt: number
    readonly answered: boolean
    /** True if one of this order has answered. */
    readonly proven: boolean
    readonly ended: { readonly at: number; readonly how: 'stopped' | 'died'; readonly why: string } | null
    readonly crashes: number
    readonly streak: number
  } | null
  /** Reply to PING, or that the process is gone. */
  readonly answer: Answer | 'gone'
  /** Reason why the engine did not stop when asked. Null when it may be asked again. */
  readonly refusedToStop: string | null
}

/** Next action for the process of a shard, with the reason. */
export type Next =
  | { readonly kind: 'start' | 'kill' | 'record-exit' | 'mark-ready' | 'delete'; readonly why: string }
  | { readonly kind: 'stop'; readonly save: boolean; readonly why: string }
  /** No action: look again after `afterMs`. */
  | {
      readonly kind: 'rest'
      readonly state: ShardReport['state']
      readonly afterMs: number
      /** True if its answer shows no fault; `why` is empty then. */
      readonly isWell: boolean
      readonly why: string
    }

/** Interval of questions to a running process: its end closes the connection, which is noticed. */
export const RUNNING_MS = 1_000
const SETTLED_MS = 500
const CHANGING_MS = 50
/**
 * An engine without data answers within 20 to 60 ms, so looks are frequent at first. A longer start means
 * that the machine is busy, and many looks would make it busier, because each reads all listeners from the
 * kernel. So the pause grows to a fifth of the time since the start.
 */
const YOUNG_LOOK_MS = 10
const PART_OF_AGE = 5

/**
 * Decides the next action for one shard. `start`, `stop`, `kill`: as named; `record-exit`: record its end;
 * `mark-ready`: record its first answer; `delete`: remove the folder; `rest`: nothing to do, or wait.
 */
export function decideNext(observation: Observation): Next {
  const { wanted, last, answer } = observation
  if (answer !== 'gone' && last) return decideAlive(observation, last, answer)
  if (wanted.gone) return { kind: 'delete', why: 'the shard is to be removed' }
  if (!last) return { kind: 'start', why: 'it was put' }
  if (last.ended) return decideEnded(observation, last, last.ended)
  if (last.started) return { kind: 'record-exit', why: 'its process is gone' }
  return { kind: 'start', why: 'the start was interrupted' }
}

function decideAlive(observation: Observation, last: NonNullable<Observation['last']>, answer: Answer): Next {
  const { wanted, refusedToStop, now } = observation
  const outdated = last.order < wanted.order
  if (wanted.gone) return { kind: 'stop', save: false, why: 'the shard is to be removed' }
  const verdict = answer.kind === 'silent' ? decideSilent(answer.silence) : null
  if (verdict?.kind === 'kill') return verdict
  // A silent one hears no order: it is asked when it answers.
  if (outdated && refusedToStop === null && verdict === null)
    return { kind: 'stop', save: true, why: 'it is to start again, with what it is to run now' }
  if (answer.kind === 'pong' && !last.answered) return { kind: 'mark-ready', why: 'it answers' }
  const closely = outdated || !last.answered || answer.kind !== 'pong'
  // The clock may have been set back.
  const ageMs = Math.abs(now - last.startedAt)
  const closelyMs = last.answered
    ? CHANGING_MS
    : Math.min(CHANGING_MS, Math.max(YOUNG_LOOK_MS, ageMs / PART_OF_AGE))
  return {
    kind: 'rest',
    state: last.answered ? 'running' : 'starting',
    afterMs: closely ? closelyMs : RUNNING_MS,
    isWell: !outdated && (verdict === null ? answer.kind === 'pong' : !verdict.isLong),
    why: outdated
      ? `cannot be stopped: ${refusedToStop ?? (verdict?.isLong ? verdict.why : 'it does not answer')}`
      : tell(answer, verdict),
  }
}

/** Describes it for people; empty without a fault. */
function tell(answer: Answer, silent: Extract<SilentVerdict, { kind: 'leave' }> | null): string {
  if (silent === null) return describe(answer)
  return silent.isLong ? silent.why : ''
}

function decideEnded(
  { wanted, now }: Observation,
  last: NonNullable<Observation['last']>,
  ended: { readonly at: number; readonly how: 'stopped' | 'died'; readonly why: string },
): Next {
  if (last.order < wanted.order) return { kind: 'start', why: 'it was put' }
  const rest = { kind: 'rest', afterMs: SETTLED_MS, isWell: false } as const
  if (ended.how === 'died' && !last.proven) return { ...rest, state: 'failed', why: ended.why }
  if (wanted.onCrash === 'wait')
    return { ...rest, state: 'exited', why: `${ended.why}; waits until the server orders its start` }
  if (ended.how === 'stopped') return { kind: 'start', why: 'it was stopped together with the agent' }
  const backOff = backOffMs(last.streak)
  // Limited, because the clock may have been set back.
  const afterMs = Math.min(backOff, ended.at + backOff - now)
  if (afterMs <= 0) return { kind: 'start', why: `back-off of ${backOff} ms is over` }
  const times = last.crashes === 1 ? 'once' : `${last.crashes} times`
  const why = `exited ${times}, next start in ${afterMs} ms: ${ended.why}`
  return { ...rest, state: 'exited', afterMs: Math.min(afterMs, SETTLED_MS), why }
}

function describe(answer: Answer): string {
  if (answer.kind === 'busy') return answer.why
  return answer.kind === 'loading' ? 'loads its data' : ''
}

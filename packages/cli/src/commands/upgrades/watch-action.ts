import type { Action } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Exit, exitCodes } from '../../output/exit-codes.ts'
import { folded } from '../../output/fold-text.ts'
import { printValue } from '../../output/print-answer.ts'
import { showSeconds, showTime } from '../../output/show-quantity.ts'
import { asJson, inOneLine } from '../../output/without-orders.ts'
import { findAction } from '../actions.ts'
import { labelOf } from '../describe-action.ts'
import { describeHandover } from './describe-handover.ts'
import { followAction, type Stopped, type Wait } from './follow-action.ts'
import { type Progress, stateOf, tellEvents, tellLines, tellNothing } from './tell-progress.ts'

/** Limits of watching. */
export interface WatchOptions extends CommonOptions {
  readonly wait: Wait
  /** Seconds. */
  readonly waitTimeout?: number | undefined
}

/** A watched action. */
export interface Watched {
  readonly link: Link
  readonly uid: string
  /** Name of its database. */
  readonly name: string
}

/** Watches an action, or the running one of a database, as far as requested, and prints the result. */
export async function watchOne(context: Context, word: string, options: WatchOptions): Promise<void> {
  const link = await context.link()
  const { action, name } = await findAction(link, word)
  const seen = await watchAction(context, { link, uid: action.action_uid, name }, options)
  printEnd(context, name, seen)
}

/** Prints how far an action has come, and sets the exit code by its outcome. */
export function printEnd({ terminal, answer }: Context, name: string, action: Action): void {
  const { form } = answer
  const { action_uid, outcome, phase } = action
  if (form === 'jsonl') terminal.out(`${asJson({ type: 'result', action_uid, outcome, phase })}\n`)
  else if (form === 'json' || form === 'yaml') terminal.out(printValue(action, form, answer))
  else if (form === 'name') terminal.out(`${action_uid}\n`)
  else terminal.out(folded(terminal, describeEnd({ terminal }, name, action)))
  const { code } = exitCodes[outcome === null ? 'done' : exits[outcome]]
  if (code !== 0) process.exitCode = code
}

const exits: Readonly<Record<NonNullable<Action['outcome']>, Exit>> = {
  completed: 'done',
  rolled_back: 'taken_back',
  cancelled: 'taken_back',
  failed: 'failed',
}

/** Follows an action, and prints its progress. Throws CommandFault if the wait ends before the action. */
export async function watchAction(
  context: Context,
  { link, uid, name }: Watched,
  { wait, waitTimeout }: Pick<WatchOptions, 'wait' | 'waitTimeout'>,
): Promise<Action> {
  const { terminal } = context
  const withinMs = waitTimeout === undefined ? undefined : waitTimeout * 1_000
  using progress = await progressOf(context, link, name)
  const { action, stopped } = await followAction(
    link,
    uid,
    { wait, withinMs, gone: terminal.gone },
    progress.onEvent,
  )
  if (stopped !== 'reached') throw goesOn({ name, action, stopped, wait, waitTimeout })
  return action
}

async function progressOf(context: Context, link: Link, name: string): Promise<Progress> {
  if (context.answer.form === 'jsonl') return tellEvents(context)
  const { progress } = context.terminal
  if (progress === 'none') return tellNothing
  if (progress === 'lines') return tellLines(context, name)
  const { drawProgress } = await import('./draw-action.ts')
  return drawProgress(context, name, link.awaySinceMs)
}

function goesOn(seen: {
  readonly name: string
  readonly action: Action
  readonly stopped: Exclude<Stopped, 'reached'>
  readonly wait: Wait
  readonly waitTimeout: number | undefined
}): CommandFault {
  const { name, action, stopped, wait, waitTimeout } = seen
  const orders = [
    `look again  fairlead actions watch ${name}`,
    `hold  fairlead actions pause ${name}`,
    `take back  fairlead actions cancel ${name}`,
  ]
  const lanes = action.lanes ?? []
  const moved = lanes.filter(({ handed_over }) => handed_over).length
  const far =
    lanes.length === 0
      ? ''
      : `, ${moved} of ${lanes.length} ${lanes.length === 1 ? 'group' : 'groups'} handed over`
  const next = orders.join('      ')
  if (stopped === 'time')
    return new CommandFault(
      'still_running',
      `Not ${wait} within ${showSeconds(waitTimeout ?? 0)}; it goes on (action ${action.action_uid}${far}): ${stateOf(action)}`,
      { code: 'still_running', next },
    )
  return new CommandFault(stopped, `It goes on without you (action ${action.action_uid}${far}).`, { next })
}

/** The outcome or phase of an action, with proofs of its handovers and the next commands. */
export function describeEnd({ terminal }: Pick<Context, 'terminal'>, name: string, action: Action): string {
  const { outcome, goal, from, certificates, window_ends, error } = action
  const { phase } = action
  const isForward =
    outcome === 'completed' || (outcome === null && (phase === 'window' || phase === 'finishing'))
  const runs = isForward ? goal : from
  const served =
    runs === null
      ? ''
      : `${name} is ${outcome === null && !isForward ? 'still ' : ''}served by ${runs.engine} ${runs.engine_version}.`
  const head =
    isForward && served !== ''
      ? served
      : `${labelOf(action)}${error === undefined ? '.' : `: ${error}.`} ${served}`
  const back =
    action.phase !== 'window'
      ? []
      : [
          `way back ${window_ends === null ? 'until it is finalized' : `until ${showTime(Date.parse(window_ends), terminal)}`}:   fairlead actions rollback ${name}     end it now:   fairlead actions finalize ${name}`,
        ]
  const go = action.phase === 'ready' ? [`go on:   fairlead actions resume ${name}`] : []
  const lines = [
    ...certificates.map(describeHandover),
    ...action.warnings.map((text) => `note: ${text}`),
    ...back,
    ...go,
  ]
  const safe = lines.map((line) => `  ${inOneLine(line)}\n`).join('')
  return `${inOneLine(head.trim())}   action ${action.action_uid}\n${safe}`
}

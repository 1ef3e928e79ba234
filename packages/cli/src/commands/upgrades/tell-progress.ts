import type { Action, ActionEvent } from '@fairlead/api'
import type { Context } from '../../link/open-context.ts'
import { asJson, inOneLine } from '../../output/without-orders.ts'
import { labelOf } from '../describe-action.ts'
import { nextOf } from '../next-of.ts'
import { describeHandover } from './describe-handover.ts'
import type { OnEvent } from './follow-action.ts'

/** Prints changes of an action. Dispose of it to print the rest. */
export interface Progress extends Disposable {
  readonly onEvent: OnEvent
}

const SILENCE_MS = 60_000

/** For programs: each event of the API as a JSON line on stdout. */
export function tellEvents({ terminal }: Pick<Context, 'terminal'>): Progress {
  return {
    onEvent: (action, event) => terminal.out(`${asJson({ action_uid: action.action_uid, ...event })}\n`),
    [Symbol.dispose]: () => undefined,
  }
}

/** Prints nothing until the end. */
export const tellNothing: Progress = { onEvent: () => undefined, [Symbol.dispose]: () => undefined }

/** Plain lines on stderr: each change once, and one after a minute without changes. */
export function tellLines({ terminal }: Pick<Context, 'terminal'>, name: string): Progress {
  let last = ''
  let now = ''
  const say = (time: string, text: string) => {
    terminal.say(`${inOneLine(`${time.replace(/\.\d+Z$/, 'Z').slice(11)} ${name}: ${text}`)}\n`)
    silence.refresh()
  }
  const silence = setInterval(() => {
    if (now !== '') say(new Date().toISOString(), now)
  }, SILENCE_MS)
  return {
    onEvent: (action, event) => {
      now = withNext(action, name)
      for (const line of event.type === 'handover' ? handoverOf(event) : []) say(event.time, line)
      if (event.type === 'handover' || now === last) return
      last = now
      say(event.time, now)
    },
    [Symbol.dispose]: () => clearInterval(silence),
  }
}

/** The state of an action, with the command that it waits for. */
function withNext(action: Action, name: string): string {
  const waits = action.phase === 'ready' || action.phase === 'paused'
  return waits ? `${stateOf(action)}; next: ${nextOf(action, name).join(', or ')}` : stateOf(action)
}

/** A certificate comes twice: when the role has moved, and with its full syncs. */
function handoverOf({ certificate }: Extract<ActionEvent, { readonly type: 'handover' }>): readonly string[] {
  return certificate.full_syncs === null ? [describeHandover(certificate)] : []
}

/** The phase of an action and its wait. */
export function stateOf(action: Action): string {
  const { waiting, outcome, error } = action
  if (outcome === 'failed') return `${labelOf(action)}: ${error ?? ''}`
  return waiting === null || outcome !== null ? labelOf(action) : `${labelOf(action)}: ${waiting.why}`
}

import { type Action, actionOutcomes } from '@fairlead/api'
import { stopOf } from './certificate-text.ts'
import { isShown, type Step } from './fold-steps.ts'
import { plural } from './format.ts'

/** An event of an action. */
export interface EventRow {
  readonly key: string
  readonly at: string
  /** Null: not about one group. */
  readonly group: number | null
  readonly what: string
  readonly why: string
}

/** Events of an action, the newest first. Also complete on a newly opened page. */
export function listEvents(action: Action): readonly EventRow[] {
  const { creation_time, began_time: began, ended_time: ended, requested_by: by, outcome } = action
  const whole = (key: string, at: string | null, what: string): readonly EventRow[] =>
    at === null ? [] : [{ key, at, group: null, what, why: '' }]
  const events = [
    ...whole('asked', creation_time, by === null ? 'asked for' : `asked for by ${by}`),
    ...whole('began', began, 'begins'),
    ...stepsOf(action),
    ...whole('ended', ended, actionOutcomes[outcome ?? 'completed'].label.toLowerCase()),
  ]
  return events.toSorted(
    (a, b) => Date.parse(b.at) - Date.parse(a.at) || events.indexOf(b) - events.indexOf(a),
  )
}

function stepsOf({ lanes = [], certificates }: Action): readonly EventRow[] {
  return lanes.flatMap(({ group, steps }) =>
    steps
      .map((step, place) => ({ step, place }))
      .filter(({ step }) => step.began !== null && isShown(step.op_name))
      .map(({ step, place }) => {
        const own = certificates.filter((certificate) => certificate.group === group)
        const at = step.ended ?? step.began ?? ''
        return { key: `${group} ${place}`, at, group, what: sayStep(step, stopOf(step, own)), why: step.why }
      }),
  )
}

function sayStep({ label, shard, from, state }: Step, stop: string | null): string {
  const whom = shard === null ? '' : from === null ? ` ${shard}` : ` ${from} → ${shard}`
  const ends = { running: ' …', left: ', not finished', failed: ': failed', done: '', planned: '' }
  return `${label}${whom}${ends[state]}${stop === null ? '' : `, write stop ${stop}`}`
}

/** The number of events, and of steps that are too old to be known. */
export function countEvents(events: readonly EventRow[], { lanes = [] }: Action): string {
  const left = lanes.reduce((sum, lane) => sum + lane.steps_left_out, 0)
  return left === 0 ? plural(events.length, 'event') : `${events.length} of ${events.length + left} events`
}

import { type ActionOutcome, actionOutcomes, type LogEntry } from '@fairlead/api'

/** The type of records for every end except the goal, also if a user ordered it. */
const ENDED_OTHERWISE = 'bdb_action_failed'
const prefix = 'bdb action '

/** Describes an audit record. An action's outcome is in its details; without it, it is not called failed. */
export function whatOf({ type, details }: Pick<LogEntry, 'type' | 'details'>): string {
  if (type !== ENDED_OTHERWISE) return type.replaceAll('_', ' ')
  const outcome = details['outcome']
  return `${prefix}${isOutcome(outcome) ? wordsOf(outcome) : 'ended, goal not reached'}`
}

/** The type for a filter. Also accepts the table's text, "bdb created". */
export function typeOf(entered: string): string {
  const words = entered.trim().toLowerCase()
  const isEnd = ['ended, goal not reached', ...outcomes.map(wordsOf)].some((end) => words === prefix + end)
  return isEnd ? ENDED_OTHERWISE : words.replaceAll(' ', '_')
}

const outcomes = ['rolled_back', 'cancelled', 'failed'] as const satisfies readonly ActionOutcome[]
type Outcome = (typeof outcomes)[number]

function isOutcome(value: unknown): value is Outcome {
  return outcomes.some((outcome) => outcome === value)
}

function wordsOf(outcome: Outcome): string {
  const label = actionOutcomes[outcome].label.toLowerCase()
  return outcome === 'failed' ? label : `${label}, as ordered`
}

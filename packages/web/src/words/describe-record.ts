import { type ActionOutcome, actionOutcomes, type LogEntry } from '@fairlead/api'

/** The type of a record has this for every end that is not the goal, also for one that a user has ordered. */
const ENDED_OTHERWISE = 'bdb_action_failed'
const prefix = 'bdb action '

/** What a record of the audit says has happened. How an action ended is in its details; a record without that does not say that it failed. */
export function whatOf({ type, details }: Pick<LogEntry, 'type' | 'details'>): string {
  if (type !== ENDED_OTHERWISE) return type.replaceAll('_', ' ')
  const outcome = details['outcome']
  return `${prefix}${isOutcome(outcome) ? wordsOf(outcome) : 'ended, goal not reached'}`
}

/** The type that a filter means. As the table shows it, "bdb created", it is meant, too. */
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

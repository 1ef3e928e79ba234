import { type ActionOutcome, actionOutcomes, type LogEntry } from '@fairlead/api'

/** The type of records for an end that a user ordered. */
const TAKEN_BACK = 'bdb_action_taken_back'
const prefix = 'bdb action '

/** Describes an audit record. */
export function whatOf({ type, details }: Pick<LogEntry, 'type' | 'details'>): string {
  const outcome = outcomes.find((one) => one === details['outcome'])
  return type === TAKEN_BACK && outcome !== undefined
    ? `${prefix}${wordsOf(outcome)}`
    : type.replaceAll('_', ' ')
}

/** The type for a filter. Also accepts the table's text, "bdb created". */
export function typeOf(entered: string): string {
  const words = entered.trim().toLowerCase()
  return outcomes.some((outcome) => words === prefix + wordsOf(outcome))
    ? TAKEN_BACK
    : words.replaceAll(' ', '_')
}

const outcomes = ['rolled_back', 'cancelled'] as const satisfies readonly ActionOutcome[]

function wordsOf(outcome: (typeof outcomes)[number]): string {
  return `${actionOutcomes[outcome].label.toLowerCase()}, as ordered`
}

import type { Fault } from './describe-faults.ts'

/** The deepest body of this API has five levels. Each level is a call, and the stack holds some thousands. */
const MOST_LEVELS = 64

/**
 * Faults that a schema does not find: the character NUL, which PostgreSQL cannot store; half of a surrogate pair, which UTF-8
 * does not have ("\ud800" in JSON: a store would keep another text); and a number that was read from text and is infinite ("1e999"), which the
 * validator does not compare with its bounds; and what is nested without end where any value may be.
 */
export function describeUnfit(value: unknown, field = '', level = 0): readonly Fault[] {
  if (typeof value === 'string') return describeText(value, field)
  if (typeof value === 'number')
    return Number.isFinite(value) ? [] : [faultOf(field, 'must be a finite number')]
  if (typeof value !== 'object' || value === null) return []
  if (level === MOST_LEVELS)
    return [faultOf(field.split('.')[0] ?? '', `must not have more than ${MOST_LEVELS} levels`)]
  return Object.entries(value).flatMap(([name, part]) => {
    const place = field === '' ? name : `${field}.${name}`
    return [...describeUnfit(name, 'the name of a field'), ...describeUnfit(part, place, level + 1)]
  })
}

function describeText(text: string, field: string): readonly Fault[] {
  if (text.includes('\0')) return [faultOf(field, 'must not have the character NUL (U+0000)')]
  if (!text.isWellFormed())
    return [faultOf(field, 'must not have half of a surrogate pair, which is not a character')]
  return []
}

function faultOf(field: string, what: string): Fault {
  return field === ''
    ? { field: undefined, message: `the value: ${what}` }
    : { field, message: `${field}: ${what}` }
}

import type { Fault } from './describe-faults.ts'

/** The deepest valid body has five levels. Each is a call; the stack allows some thousands. */
const MOST_LEVELS = 64

/**
 * Finds faults that no schema finds: NUL, which PostgreSQL cannot store; half surrogate pairs ("\ud800" in
 * JSON), which UTF-8 lacks; infinite numbers from text ("1e999"), which the validator does not compare with
 * bounds; and too many levels where any value is valid.
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

/**
 * Faults that a schema does not find, one sentence each: the character NUL, which PostgreSQL cannot store, and a number that was read
 * from text and is infinite ("1e999"), which the validator does not compare with its bounds.
 */
export function describeUnfit(value: unknown, field = ''): readonly string[] {
  if (typeof value === 'string')
    return value.includes('\0') ? [`${nameOf(field)}: must not have the character NUL (U+0000)`] : []
  if (typeof value === 'number')
    return Number.isFinite(value) ? [] : [`${nameOf(field)}: must be a number, and not beyond all numbers`]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => {
    const place = field === '' ? name : `${field}.${name}`
    return [...describeUnfit(name, 'the name of a field'), ...describeUnfit(part, place)]
  })
}

function nameOf(field: string): string {
  return field === '' ? 'the value' : field
}

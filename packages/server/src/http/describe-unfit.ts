/**
 * What no schema sees in a value that it has taken, one sentence for each: the character NUL, which PostgreSQL has no place for, and a number that was read
 * from text and is beyond all numbers ("1e999"), of which the validator does not compare the bounds.
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

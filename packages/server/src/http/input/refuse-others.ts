import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '@fairlead/api'

/**
 * Refuses fields that cannot be changed, with `field_not_available`, unless they have the value that is there: that is no change. What the caller may not see differs from
 * everything, since a comparison would tell. `instead` says what can be done, for people.
 */
export function refuseOthers(
  settled: Readonly<Record<string, unknown>>,
  has: Readonly<Record<string, unknown>>,
  instead: string,
): void {
  const others = Object.entries(settled).filter(([name, value]) => !isDeepStrictEqual(value, has[name]))
  if (others.length === 0) return
  const refusing = (field: string) => `${field}: cannot be changed; ${instead}`
  const code = 'field_not_available'
  throw new Refusal(code, refusing(others.map(([name]) => name).join(', ')), {
    obstacles: others.map(([field]) => ({ code, field, message: refusing(field) })),
  })
}

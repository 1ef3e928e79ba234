import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '@fairlead/api'

/**
 * Refuses immutable fields with `field_not_available`, unless the value is unchanged. A hidden value always
 * counts as different, because a comparison would reveal it. `instead` names the alternative, for people.
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

import type { HoldResult } from '@fairlead/api'

/** What was in the way of several holds that count as one: the first thing. `why` is empty when nothing was. */
export function firstNotDrained(holds: readonly HoldResult[]): Pick<HoldResult, 'code' | 'why'> {
  const failed = holds.find(({ drained }) => !drained)
  if (failed === undefined) return { why: '' }
  const { code, why } = failed
  return code === undefined ? { why } : { code, why }
}

import type { HoldResult } from '@fairlead/api/of-proxies'

/** Returns the first failure among several holds that count as one. `why` is empty if none failed. */
export function firstNotDrained(holds: readonly HoldResult[]): Pick<HoldResult, 'code' | 'why'> {
  const failed = holds.find(({ drained }) => !drained)
  if (failed === undefined) return { why: '' }
  const { code, why } = failed
  return code === undefined ? { why } : { code, why }
}

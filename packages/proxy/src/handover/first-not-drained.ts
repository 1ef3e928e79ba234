import type { HoldResult } from '@fairlead/api/of-proxies'

/** The first reason why one of several holds, which count as one, has failed. `why` is empty if none failed. */
export function firstNotDrained(holds: readonly HoldResult[]): Pick<HoldResult, 'code' | 'why'> {
  const failed = holds.find(({ drained }) => !drained)
  if (failed === undefined) return { why: '' }
  const { code, why } = failed
  return code === undefined ? { why } : { code, why }
}

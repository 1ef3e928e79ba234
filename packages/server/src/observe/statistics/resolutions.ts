import type { KeptInterval } from '@fairlead/api'
import type { StoredInterval } from '../stores/statistics-store.ts'

/** How long an interval is, and how many are kept. */
export const resolutions: Readonly<Record<KeptInterval, { readonly ms: number; readonly most: number }>> = {
  '10sec': { ms: 10_000, most: 90 },
  '5min': { ms: 300_000, most: 288 },
  '1hour': { ms: 3_600_000, most: 168 },
}

/** Those that outlive a restart. */
export const storedIntervals = ['5min', '1hour'] as const satisfies readonly StoredInterval[]

/** The number of the interval, counted from 1970, in which this moment lies. */
export function slotOf(interval: KeptInterval, atMs: number): number {
  return Math.floor(atMs / resolutions[interval].ms)
}

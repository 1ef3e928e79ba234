import { campaign } from '../../../../proof/campaign.ts'

const { is, times, seed: chosen } = campaign()
const profile = is('simulation-shipped') ? 'simulation-shipped' : 'simulation'

/** The seed of all random choices of this process. */
export const seed = chosen

/** Settings for fast-check. `numRuns` is how often `npm test` tries a property. */
export function runsOf(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: times(profile, numRuns), seed }
}

/** The time limit of a test that tries a property. */
export const propertyWithinMs = times(profile, 400_000)

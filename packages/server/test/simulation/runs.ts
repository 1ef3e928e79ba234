import { randomInt } from 'node:crypto'

const asked = process.env['SIMULATION_SEED']
/** The seed of all random choices of this process, another one each time. SIMULATION_SEED repeats those of a run. */
export const seed = asked === undefined ? randomInt(2 ** 31) : Number(asked)

const times = Number(process.env['SIMULATION_RUNS'] ?? 1)

/** Settings for fast-check. `numRuns` is how often a property is tried; SIMULATION_RUNS multiplies it. */
export function runsOf(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: numRuns * times, seed }
}

/** The time limit of a test that tries a property. */
export const propertyWithinMs = 400_000 * times

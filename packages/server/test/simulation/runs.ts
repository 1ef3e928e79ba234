import { randomInt } from 'node:crypto'

const asked = process.env['SIMULATION_SEED']
/** From what everything random of this process comes: other worlds each time. SIMULATION_SEED repeats those of a run. */
export const seed = asked === undefined ? randomInt(2 ** 31) : Number(asked)

const times = Number(process.env['SIMULATION_RUNS'] ?? 1)

/** For the terms of fast-check. A property is looked at so often; SIMULATION_RUNS makes that so many times more. */
export function runsOf(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: numRuns * times, seed }
}

/** How long a test may take that looks at a property. */
export const propertyWithinMs = 120_000 * times

import { randomInt } from 'node:crypto'

const { SIMULATION_SEED: asked, SIMULATION_RUNS: longer } = process.env

/**
 * The seed of all random choices of this process. The suite always takes the same one: whether a commit is good must not be a matter of luck.
 * A longer run (SIMULATION_RUNS) looks for worlds that no run has seen, with another seed each time. SIMULATION_SEED repeats those of a run.
 */
export const seed =
  asked === undefined ? (longer === undefined ? 20_261_126 : randomInt(2 ** 31)) : Number(asked)

const times = Number(longer ?? 1)

/** Settings for fast-check. `numRuns` is how often a property is tried; SIMULATION_RUNS multiplies it. */
export function runsOf(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: numRuns * times, seed }
}

/** The time limit of a test that tries a property. */
export const propertyWithinMs = 400_000 * times

/**
 * Work on an engine's answer, which may be very long, in steps: other databases have their turn in between.
 * Run by `reconcile/turn/in-pieces.ts`.
 */
export type InSteps<Result> = Generator<void, Result, void>

/** Runs all steps immediately, for work that is known to be small. */
export function atOnce<Result>(work: InSteps<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Calls a function for each item, with a step after each. */
export function* mapInSteps<Each, Result>(
  all: Iterable<Each>,
  work: (each: Each) => Result,
): InSteps<readonly Result[]> {
  const results: Result[] = []
  for (const each of all) {
    results.push(work(each))
    yield
  }
  return results
}

/** Like mapInSteps, for work that consists of steps. */
export function* eachInSteps<Each, Result>(
  all: Iterable<Each>,
  work: (each: Each) => InSteps<Result>,
): InSteps<readonly Result[]> {
  const results: Result[] = []
  for (const each of all) {
    results.push(yield* work(each))
    yield
  }
  return results
}

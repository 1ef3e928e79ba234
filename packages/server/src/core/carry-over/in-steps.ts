/**
 * Work on the answer of an engine, which may be very long: other databases have their turn between its steps. It is carried out by
 * `reconcile/turn/in-pieces.ts`.
 */
export type InSteps<Result> = Generator<void, Result, void>

/** Carries out all steps at once: for work that is known to be small. */
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

/** The same with work that has steps of its own. */
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

import type { Reporter } from 'vitest/node'

export interface TestCount {
  readonly passed: number
  /** Tests, files that could not be loaded or set up, and errors that no test owns. */
  readonly failed: number
  readonly skipped: number
}

/**
 * Names the tests that passed at the second try only, then counts the tests and says "N passed, N failed" in
 * one plain line for machines to read. Under `npm test`, run-tests.mjs gets the count and prints that line;
 * under plain vitest it is printed here.
 */
export function plainReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors, reason) {
      const tests = modules.flatMap((module) => [...module.children.allTests()])
      const states = tests.map((test) => test.result().state)
      for (const test of tests)
        if (test.diagnostic()?.flaky === true)
          console.log(
            `passed at the second try only: ${test.module.relativeModuleId} > ${test.fullName}: ${test.result().errors?.[0]?.message.split('\n')[0] ?? 'for an unknown reason'}`,
          )
      const suites = modules.flatMap((module) => [module, ...module.children.allSuites()])
      const broken = suites.filter((suite) => suite.errors().length > 0).length + unhandledErrors.length
      const failed = states.filter((state) => state === 'failed').length + broken
      report({
        passed: states.filter((state) => state === 'passed').length,
        failed: failed === 0 && reason !== 'passed' ? 1 : failed,
        skipped: states.filter((state) => state === 'skipped').length,
      })
    },
  }
}

function report(count: TestCount): void {
  if (process.send) {
    process.send({ fairleadCount: count })
    return
  }
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
}

import { expect, test } from 'vitest'
import { printReport } from './print-report.ts'
import { countReport, type FileRecord, type Report } from './report.ts'

const passed: FileRecord = {
  file: 'e2e/proof/a.test.ts',
  project: 'proof',
  commit: 'abc1234',
  seconds: 12,
  passed: 3,
  failures: [],
  secondTries: [],
  skipped: [],
}
const failures = [{ test: "a write > isn't lost", message: 'expected 1 to be 0' }]
const failed: FileRecord = { ...passed, file: 'e2e/proof/b.test.ts', failures }
const report: Report = {
  order: { profile: 'stalls', seed: 42, part: 2, parts: 4, pair: null },
  startedAt: '2026-11-28T20:00:00.000Z',
  minutes: 12.34,
  commit: 'abc1234',
  builds: ['redis-7.0.15', 'valkey-8.1.1'],
  planned: ['e2e/proof/a.test.ts', 'e2e/proof/b.test.ts', 'e2e/proof/c.test.ts'],
  isWhole: true,
  files: [passed, failed],
  errors: [],
}

test('a file that did not run to its end is a failure', () => {
  expect(countReport(report)).toEqual({ passed: 6, failed: 2, skipped: 0 })
  expect(printReport(report)).toContain('## Did not run to the end\n\n- e2e/proof/c.test.ts\n')
})

test('a report has the command that repeats each failure, in any shell', () => {
  expect(printReport(report)).toContain(
    "`npm run prove -- --profile stalls --seed 42 e2e/proof/b.test.ts -t 'a write > isn'\\''t lost'`",
  )
})

test('a report has the commands that repeat and resume the run', () => {
  expect(printReport(report)).toContain('run: `npm run prove -- --profile stalls --part 2/4 --seed 42`')
  expect(printReport(report)).toContain('`npm run prove -- --profile stalls --part 2/4 --failed`')
})

test('a report names commit, builds, and the tests that passed at the second try', () => {
  const secondTries = [{ test: 'a slow one', message: 'not within 60000 ms' }]
  const text = printReport({ ...report, files: [{ ...passed, secondTries }] })
  expect(text).toContain('commit: abc1234')
  expect(text).toContain('builds: redis-7.0.15, valkey-8.1.1')
  expect(text).toContain('## Passed at the second try\n\n### e2e/proof/a.test.ts: a slow one')
})

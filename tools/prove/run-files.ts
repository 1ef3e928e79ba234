import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import {
  BaseSequencer,
  escapeTestName,
  startVitest,
  type TestModule,
  type TestSpecification,
} from 'vitest/node'
import { writeReport } from './keep-report.ts'
import type { FileRecord, Finding, Report } from './report.ts'

export interface Selection {
  readonly files: readonly string[]
  /** A part of the names of the tests; undefined: all. */
  readonly test: string | undefined
}

/**
 * Runs the files with vitest, in this order. The report is written after each of them, so that the run can be
 * resumed.
 */
export async function runFiles(root: string, report: Report, { files, test }: Selection): Promise<Report> {
  let current = report
  const startedAt = performance.now()
  const note = (change: Partial<Report>) => {
    const minutes = report.minutes + (performance.now() - startedAt) / 60_000
    current = { ...current, ...change, minutes }
    writeReport(root, current)
  }
  note({})
  if (files.length === 0) return current
  class AsPlanned extends BaseSequencer {
    override async sort(specifications: TestSpecification[]) {
      const place = ({ moduleId }: TestSpecification) => files.indexOf(relative(root, moduleId))
      return specifications.toSorted((a, b) => place(a) - place(b))
    }
  }
  const reporter = {
    onTestModuleEnd(module: TestModule) {
      const record = recordOf(root, module, current.commit)
      const isOther = ({ file, project }: FileRecord) => file !== record.file || project !== record.project
      note({ files: [...current.files.filter(isOther), record] })
    },
    onTestRunEnd(_: unknown, errors: readonly SerializedError[]) {
      note(withErrors(root, current, errors))
    },
  }
  await startVitest([...files], {
    root,
    run: true,
    // A part may have no round of a campaign.
    passWithNoTests: true,
    // For tests without one of their own: more random choices take longer.
    testTimeout: report.order.profile === null ? 300_000 : 3_600_000,
    sequence: { sequencer: AsPlanned },
    reporters: ['default', reporter],
    ...(test !== undefined && { testNamePattern: patternOf(test) }),
  })
  return current
}

/** Errors that no test owns: each is a failure of the file that ran, if that is known. */
function withErrors(
  root: string,
  { files }: Report,
  errors: readonly SerializedError[],
): Pick<Report, 'files' | 'errors'> {
  const found = errors.map(({ stack, message, VITEST_TEST_PATH: path }) => ({
    file: typeof path === 'string' ? relative(root, path) : '',
    finding: { test: null, message: stack ?? message },
  }))
  const isKnown = (file: string) => files.some((record) => record.file === file)
  return {
    files: files.map((record) => {
      const own = found.filter(({ file }) => file === record.file)
      return { ...record, failures: [...record.failures, ...own.map(({ finding }) => finding)] }
    }),
    errors: found.filter(({ file }) => !isKnown(file)).map(({ finding }) => finding.message),
  }
}

/** Vitest joins the names of groups and test with a blank here, and with " > " where it prints them. */
function patternOf(name: string): string {
  return name
    .split(' > ')
    .map((part) => escapeTestName(part, false))
    .join(' (?:> )?')
}

function recordOf(root: string, module: TestModule, commit: string): FileRecord {
  const tests = [...module.children.allTests()]
  const inState = (state: string) => tests.filter((test) => test.result().state === state)
  const broken = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0)
  const failures: readonly Finding[] = [
    ...inState('failed').map((test) => ({ test: test.fullName, message: messageOf(test.result().errors) })),
    ...broken.map((suite) => ({
      test: suite.type === 'module' ? null : suite.fullName,
      message: messageOf(suite.errors()),
    })),
  ]
  const secondTries = tests
    .filter((test) => test.diagnostic()?.flaky === true)
    .map((test) => ({ test: test.fullName, message: messageOf(test.result().errors) }))
  return {
    file: relative(root, module.moduleId),
    project: module.project.name,
    commit,
    seconds: secondsOf(module),
    passed: inState('passed').length,
    failures,
    secondTries,
    skipped: inState('skipped').map(({ fullName }) => fullName),
  }
}

function messageOf(
  errors: readonly { readonly message: string; readonly diff?: string | undefined }[] = [],
): string {
  return errors.flatMap(({ message, diff }) => [message, diff ?? []].flat()).join('\n')
}

function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
    module.diagnostic()
  const ms = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration
  return Math.round(ms / 1_000)
}

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import type { Order } from '../../proof/campaign.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'

/**
 * A failure of a test, or of what surrounds tests: then `test` is the name of its group, or null for the
 * file.
 */
export interface Finding {
  readonly test: string | null
  readonly message: string
}

export interface FileRecord {
  readonly file: string
  /** The tier; a few files of the component tier run a second time with the state in PostgreSQL. */
  readonly project: string
  readonly commit: string
  readonly seconds: number
  readonly passed: number
  readonly failures: readonly Finding[]
  /** Tests that passed at the second try, with the message of the first one. */
  readonly secondTries: readonly Finding[]
  readonly skipped: readonly string[]
}

export interface Report {
  readonly order: Order
  readonly startedAt: string
  /** How long it took, with the time of each continuation. */
  readonly minutes: number
  /** The commit that runs now, with a "+" if there are changes. */
  readonly commit: string
  readonly builds: readonly string[]
  readonly planned: readonly string[]
  /** False: some files were chosen, and the report of the whole run is kept. */
  readonly isWhole: boolean
  /** In the order in which they ended. */
  readonly files: readonly FileRecord[]
  /** Errors that belong to no test. */
  readonly errors: readonly string[]
}

/** The report of a run in which nothing has run yet. */
export function beginReport(
  root: string,
  order: Order,
  { planned, isWhole }: Pick<Report, 'planned' | 'isWhole'>,
): Report {
  const startedAt = new Date().toISOString()
  return { order, startedAt, minutes: 0, planned, isWhole, ...readPlace(root), files: [], errors: [] }
}

/** The report of a run that continues on the commit of today, with the files that there are today. */
export function resumeReport(root: string, last: Report, planned: readonly string[]): Report {
  const files = last.files.filter(({ file }) => planned.includes(file))
  return { ...last, ...readPlace(root), planned, files, errors: [] }
}

function readPlace(root: string): Pick<Report, 'commit' | 'builds'> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain') === '' ? '' : '+'
  return {
    commit: `${git('rev-parse', '--short', 'HEAD')}${changed}`,
    builds: readdirSync(enginesFolder()).filter((name) => /^[a-z]+-\d/.test(name)),
  }
}

/**
 * A planned file that did not run to its end counts as one failure, and so does an error that belongs to no
 * test.
 */
export function countReport({ files, errors, planned }: Report) {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
  const missing = planned.filter((file) => !files.some((record) => record.file === file)).length
  return {
    passed: sum(files.map(({ passed }) => passed)),
    failed: sum(files.map(({ failures }) => failures.length)) + errors.length + missing,
    skipped: sum(files.map(({ skipped }) => skipped.length)),
  }
}

/** `npm run prove`: runs the proof tier, or a campaign of it, and leaves a report in `.fairlead/proof`. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { CAMPAIGN, type Order } from '../../proof/campaign.ts'
import { readReport, writeReport } from './keep-report.ts'
import { planFiles } from './plan-files.ts'
import { printList } from './print-list.ts'
import { type Asked, HELP, Misused, readArguments } from './read-arguments.ts'
import { beginReport, countReport, type Report, resumeReport } from './report.ts'
import { runFiles } from './run-files.ts'

const root = join(import.meta.dirname, '../..')

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args)
  if (asked.isHelp) process.stdout.write(HELP)
  if (asked.isList) process.stdout.write(printList(root, asked))
  if (asked.isHelp || asked.isList) return 0
  const { report, files } = asked.isResumed ? resume(asked) : begin(asked)
  process.env[CAMPAIGN] = JSON.stringify(report.order)
  process.stdout.write(`seed ${report.order.seed}, ${files.length} of ${report.planned.length} files\n`)
  const ended = await runFiles(root, report, { files, test: asked.test })
  const { passed, failed, skipped } = countReport(ended)
  process.stdout.write(`report: ${writeReport(root, ended)}\n`)
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  return failed > 0 ? 1 : 0
}

interface Run {
  readonly report: Report
  readonly files: readonly string[]
}

function begin(asked: Asked): Run {
  const { profile, part, parts, pair, seed = randomInt(1_000_000) } = asked
  const order: Order = { profile, seed, part, parts, pair }
  const planned = planFiles(root, order).filter(
    (file) => asked.files.length === 0 || asked.files.some((word) => file.includes(word)),
  )
  if (planned.length === 0)
    throw new Misused('no file of this run, or of this part of it, is meant: --list shows them')
  const isWhole = asked.files.length === 0 && asked.test === undefined
  return { report: beginReport(root, order, { planned, isWhole }), files: planned }
}

/** The order of the last report, and those of its files that have not passed. */
function resume(asked: Asked): Run {
  const last = readReport(root, asked)
  const report = resumeReport(root, last, planFiles(root, last.order))
  const passed = (file: string) => {
    const records = report.files.filter((record) => record.file === file)
    return records.length > 0 && records.every(({ failures }) => failures.length === 0)
  }
  return { report, files: report.planned.filter((file) => !passed(file)) }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (cause) {
  if (!(cause instanceof Misused)) throw cause
  process.stderr.write(`fairlead: ${cause.message}\n`)
  process.exitCode = 2
}

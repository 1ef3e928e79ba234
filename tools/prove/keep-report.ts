import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Order } from '../../proof/campaign.ts'
import { printReport } from './print-report.ts'
import { Misused } from './read-arguments.ts'
import type { Report } from './report.ts'

type Run = Pick<Order, 'profile' | 'part' | 'parts'>

/** Each profile and each part of a run has its own report. */
function pathOf(root: string, { profile, part, parts }: Run, isWhole = true): string {
  const words = ['report', profile ?? [], parts > 1 ? `${part}-of-${parts}` : [], isWhole ? [] : 'some-files']
  return join(root, '.fairlead/proof', words.flat().join('-'))
}

/** Throws Misused when there is none. */
export function readReport(root: string, run: Run): Report {
  const path = `${pathOf(root, run)}.json`
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch (cause) {
    throw new Misused(`there is no report to resume, ${path}: leave out --failed`, { cause })
  }
}

/**
 * Writes the report as JSON, for `readReport`, and as Markdown, for people. Returns the path of the latter.
 */
export function writeReport(root: string, report: Report): string {
  const path = pathOf(root, report.order, report.isWhole)
  mkdirSync(dirname(path), { recursive: true })
  const forms = { json: `${JSON.stringify(report, null, 2)}\n`, md: printReport(report) }
  for (const [ending, text] of Object.entries(forms)) {
    // A run that is killed here leaves the former report whole.
    writeFileSync(`${path}.${ending}.new`, text)
    renameSync(`${path}.${ending}.new`, `${path}.${ending}`)
  }
  return `${path}.md`
}

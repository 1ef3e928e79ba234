import { stripVTControlCharacters } from 'node:util'
import type { Order } from '../../proof/campaign.ts'
import { countReport, type FileRecord, type Finding, type Report } from './report.ts'

/** The report for people, as Markdown. */
export function printReport(report: Report): string {
  const { files, errors, planned, order } = report
  const findings = (pick: (record: FileRecord) => readonly Finding[]) =>
    files.flatMap((record) => pick(record).map((finding) => printFinding(order, record.file, finding)))
  const notRun = planned.filter((file) => !files.some((record) => record.file === file))
  const skipped = files.flatMap(({ file, skipped: names }) => names.map((name) => `${file}: ${name}`))
  const parts = [
    `# Proof of ${report.startedAt.slice(0, 16).replace('T', ' ')} UTC`,
    printSummary(report),
    ...section('Failed', [...findings(({ failures }) => failures), ...errors.map(printBlock)]),
    ...section('Did not run to the end', notRun.length === 0 ? [] : [printItems(notRun)]),
    ...section(
      'Passed at the second try',
      findings(({ secondTries }) => secondTries),
    ),
    ...section('Skipped', skipped.length === 0 ? [] : [printItems(skipped)]),
    ...section('Ran', [printTable(files)]),
  ]
  return `${parts.join('\n\n')}\n`
}

function printSummary(report: Report): string {
  const { order, files, builds } = report
  const { passed, failed, skipped } = countReport(report)
  const tries = files.flatMap(({ secondTries }) => secondTries).length
  const commits = [...new Set(files.map(({ commit }) => commit))]
  return printItems([
    `${passed} passed, ${failed} failed, ${skipped} skipped; ${tries} of those that passed at the second try`,
    `run: \`${[commandOf(order), ...(report.isWhole ? [] : report.planned)].join(' ')}\``,
    ...(failed > 0 && report.isWhole
      ? [`what failed or did not run, again: \`${commandOf(order, { isResumed: true })}\``]
      : []),
    `commit: ${commits.join(', ') || report.commit}`,
    `builds: ${builds.join(', ')}`,
    `took: ${report.minutes.toFixed(1)} min`,
  ])
}

function printTable(files: readonly FileRecord[]): string {
  const rows = files
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(
      ({ file, project, seconds, passed, failures, commit }) =>
        `| ${file} | ${project} | ${seconds} | ${passed} | ${failures.length} | ${commit} |`,
    )
  return ['| file | tier | seconds | passed | failed | commit |', '|---|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function printFinding(order: Order, file: string, { test, message }: Finding): string {
  const title = `### ${file}${test === null ? '' : `: ${test}`}`
  return [title, `Again: \`${commandOf(order, { file, test })}\``, printBlock(message)].join('\n\n')
}

/** A vitest message, without the colours of a terminal. */
function printBlock(text: string): string {
  return `~~~\n${stripVTControlCharacters(text)}\n~~~`
}

function printItems(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

function section(title: string, parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : [`## ${title}`, ...parts]
}

/**
 * The command that repeats a run, or one test of it: then of the whole run, as its rounds do not depend on
 * the part.
 */
export function commandOf(
  { profile, seed, part, parts, pair }: Order,
  only: { readonly file?: string; readonly test?: string | null; readonly isResumed?: boolean } = {},
): string {
  const { file, test = null, isResumed = false } = only
  return [
    'npm run prove --',
    ...(profile === null ? [] : [`--profile ${profile}`]),
    ...(parts > 1 && file === undefined ? [`--part ${part}/${parts}`] : []),
    ...(pair === null ? [] : [`--pair ${quote(pair)}`]),
    isResumed ? '--failed' : `--seed ${seed}`,
    ...(file === undefined ? [] : [file]),
    ...(test === null ? [] : [`-t ${quote(test)}`]),
  ].join(' ')
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

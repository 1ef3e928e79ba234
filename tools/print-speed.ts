import { readFileSync } from 'node:fs'
import { type Measured, readHistory } from '../bench/compare/history.ts'

/** docs/reference/speed.md, from the measured releases of bench/history.csv. */
export function printSpeed(): string {
  const releases = readHistory(readFileSync(new URL('../bench/history.csv', import.meta.url), 'utf8'))
  return `${[
    '<!-- Printed by `npm run docs` from bench/history.csv. Do not edit. -->',
    '# Speed of each release',
    '',
    'Write stop and client gap of the handovers in `npm run demo`, medians, as a ratio to the same commit, measured in turns with it on the same machine: lines of different machines are comparable. Lower is faster.',
    '',
    '```mermaid',
    'xychart-beta',
    '  title "Write stop (first line) and client gap (second line), ratio"',
    `  x-axis [${releases.map(({ release }) => JSON.stringify(release)).join(', ')}]`,
    `  y-axis "ratio" 0 --> ${Math.ceil(Math.max(...releases.flatMap(ratiosOf)))}`,
    `  line [${releases.map(({ ratio }) => ratio.write_stop_ms).join(', ')}]`,
    `  line [${releases.map(({ ratio }) => ratio.client_gap_ms).join(', ')}]`,
    '```',
    '',
    '| release | commit | date | write stop | client gap | longest gap | demo | compared with |',
    '|---|---|---|---|---|---|---|---|',
    ...releases.map(printRow),
    '',
    '`npm run bench -- compare COMMIT --only demo --record RELEASE` adds a line, and is run before each release.',
  ].join('\n')}\n`
}

function ratiosOf({ ratio }: Measured): readonly number[] {
  return [ratio.write_stop_ms, ratio.client_gap_ms]
}

function printRow({ release, commit, date, base, rounds, now, ratio }: Measured): string {
  const figure = (name: keyof Measured['now'], unit: string) => `${now[name]} ${unit} (${ratio[name]} ×)`
  const figures = [
    figure('write_stop_ms', 'ms'),
    figure('client_gap_ms', 'ms'),
    figure('longest_gap_ms', 'ms'),
    figure('demo_s', 's'),
  ]
  return `| ${[release, commit, date, ...figures, `${base}, ${rounds} rounds`].join(' | ')} |`
}

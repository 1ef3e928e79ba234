import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../e2e/proof/command-line/examples/', import.meta.url)

/** docs/reference/cli-examples.md: what commands print, from the texts that the tests compare. */
export function printCliExamples(): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.txt'))
  return `${[
    '<!-- Printed by `npm run docs` from e2e/proof/command-line/examples. Do not edit. -->',
    '# What the command line prints',
    '',
    'On a terminal, unless the title names another output. Values that differ between runs are words: `N ms`, `SIZE`, `VERSION`, `PORT`, `CLOCK`. A terminal aligns columns, and folds long lines at words.',
    ...names.toSorted().flatMap(printExample),
  ].join('\n')}\n`
}

/** "03-list-in-a-pipe.txt" is "List in a pipe". */
function printExample(name: string): readonly string[] {
  const title = name.replace(/^\d+-(.*)\.txt$/, '$1').replaceAll('-', ' ')
  const text = readFileSync(new URL(name, folder), 'utf8').trimEnd()
  return ['', `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`, '', '```', text, '```']
}

import { find, read } from './check/tree.ts'

/** A promise of the code, and the place of the test that keeps it. */
export interface Invariant {
  readonly statement: string
  readonly file: string
  /** The line below the tag: a test, a group of tests, or a rule of `npm run check`. */
  readonly test: string
}

const tag = /^ *\/\/ invariant:(.*)\n(.*)$/gm

/** Reads the invariants of the repository from the tags above its tests, by file. */
export function readInvariants(): readonly Invariant[] {
  return find('{packages,ledger,e2e,proof,tools}/**/*.ts').flatMap((file) =>
    [...read(file).matchAll(tag)].map(([, statement = '', test = '']) => ({
      statement: statement.trim(),
      file,
      test: test.trim(),
    })),
  )
}

/** Returns docs/invariants.md. */
export function printInvariants(): string {
  const groups = Map.groupBy(readInvariants(), ({ file }) => groupOf(file))
  const sections = [...groups].toSorted(([a], [b]) => a.localeCompare(b))
  return `${[
    '<!-- Printed by `npm run docs` from the tags "invariant:" above tests. Do not edit. -->',
    '# Invariants',
    '',
    'What always holds, and the test that proves it. To add one, write the statement in a comment above the test:',
    '`// invariant: A database has one active change at a time.` Then run `npm run docs`.',
    ...sections.flatMap(([group, invariants]) => [
      ...['', `## ${group}`, ''],
      ...invariants.map(({ statement, file }) => `- ${statement}\n  \`${file}\``),
    ]),
  ].join('\n')}\n`
}

/** "packages/proxy/…" → "proxy", "e2e/…" → "whole Fairlead". */
function groupOf(file: string): string {
  const [folder = '', name = ''] = file.split('/')
  if (folder === 'packages') return name
  return folder === 'tools' ? 'checks' : 'whole Fairlead'
}

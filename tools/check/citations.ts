import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mustSee, rule } from './rule.ts'
import { find, read, root } from './tree.ts'

const pages = find('*.md', '{docs,changes}/**/*.md')
const sources = find(
  ...['packages/**/*.ts', 'ledger/**/*.ts', 'tools/**/*.{ts,mjs}', '{e2e,proof,bench,demo}/**/*.ts'],
)

/** What comments and pages refer to. */
export const citations = [
  rule('code cites pages that the repository holds, and sections of them', () => {
    const cited = sources.flatMap((file) => citationsOf(read(file)).map((one) => ({ file, ...one })))
    const ofHandover = cited.filter(({ page }) => page === 'docs/explain/measurements/handover.md')
    mustSee(ofHandover.filter(({ section }) => section === '4').length, 1)
    return cited
      .filter(({ page, section }) => !isThere(page, section))
      .map(({ file, page, section }) => `${file}: ${page} §${section}`)
  }),

  rule('code cites nothing that the repository does not hold', () =>
    sources
      .filter((file) => file !== 'tools/check/citations.ts')
      .filter((file) => /\b(facts on|facts of the|DESIGN ?§)/.test(read(file))),
  ),

  rule('pages and comments name files that exist', () => {
    const known = [...sources, ...pages, ...find('*.ts', 'bench/**/*.md')].map(short)
    const named = [
      ...pages.flatMap((file) => namesIn(file, read(file), /`([\w./-]+\.(?:ts|mjs|md))`/g)),
      ...sources.flatMap((file) =>
        [...read(file).matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)].flatMap(([comment]) =>
          namesIn(file, comment, /(?<![\w./-])([\w./-]+\.(?:ts|mjs|md))\b/g),
        ),
      ),
    ]
    mustSee(named.length, 301)
    const isKnown = (name: string) => known.some((one) => one.endsWith(short(name)))
    return named
      .filter(({ name }) => !name.startsWith('-') && !isKnown(name))
      .map(({ file, name }) => `${file}: ${name}`)
  }),
]

interface Citation {
  readonly page: string
  /** A section or a finding by its number; empty: the whole page. */
  readonly section: string
}

/**
 * `Specification §2.3`, `docs/explain/measurements/engines.md §2, §3`,
 * `docs/explain/measurements/handover.md, finding 4`, `bench/README.md`.
 */
function citationsOf(text: string): readonly Citation[] {
  const oneLine = text.replaceAll(/\n\s*\* ?/g, ' ')
  const named = /(Specification(?= §)|(?:docs|bench)\/[\w/-]+\.md)((?:,? (?:§|finding )[\d.]*\d)*)/g
  return [...oneLine.matchAll(named)].flatMap(([, name = '', places = '']) => {
    const page = name === 'Specification' ? 'docs/reference/specification.md' : name
    const sections = places.match(/\d[\d.]*/g) ?? ['']
    return sections.map((section) => ({ page, section }))
  })
}

function isThere(page: string, section: string): boolean {
  if (!existsSync(join(root, page))) return false
  const number = section.replaceAll('.', '\\.')
  return section === '' || new RegExp(`^(?:#+ )?${number}\\.? `, 'm').test(read(page))
}

function namesIn(file: string, text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(([, name = '']) => ({ file, name }))
}

/** A path without what pages leave out, as it is always the same: packages, and src. */
function short(file: string): string {
  return `/${file.replace(/^packages\//, '').replace('/src/', '/')}`
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentOperations, errors, errorsOf, operations, proxyOperations } from '@fairlead/api'
import { describe, expect, test } from 'vitest'
import { printDocs } from './tools/print-docs.ts'
import { exportsOf } from './tools/read-exports.ts'
import { importsOf } from './tools/read-imports.ts'

const root = import.meta.dirname
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const not = ['node_modules', 'dist', '.fairlead', '.git', 'coverage']
const isOurs = (file: string) => !file.split('/').some((part) => not.includes(part))
const find = (...patterns: string[]) => globSync(patterns, { cwd: root }).filter(isOurs).toSorted()

const pages = find('*.md', 'docs/**/*.md')
const packageFiles = find(
  'package.json',
  'packages/*/package.json',
  'ledger/package.json',
  'tools/node/package.json',
)
const decisions = find('docs/decisions/*.md')
const sources = find(
  'packages/**/*.ts',
  'ledger/**/*.ts',
  'tools/**/*.{ts,mjs}',
  '{e2e,proof,bench,demo}/**/*.ts',
)

interface Citation {
  readonly page: string
  /** A section or a finding by its number; empty: the whole page. */
  readonly section: string
}

/** `Specification §2.3`, `docs/measurements/engines.md §2, §3`, `docs/measurements/handover.md, finding 4`, `bench/README.md`. */
function citations(text: string): readonly Citation[] {
  const oneLine = text.replaceAll(/\n\s*\* ?/g, ' ')
  const named = /(Specification(?= §)|(?:docs|bench)\/[\w/-]+\.md)((?:,? (?:§|finding )[\d.]*\d)*)/g
  return [...oneLine.matchAll(named)].flatMap(([, name = '', places = '']) => {
    const page = name === 'Specification' ? 'docs/specification.md' : name
    const sections = places.match(/\d[\d.]*/g) ?? ['']
    return sections.map((section) => ({ page, section }))
  })
}

function isThere(page: string, section: string): boolean {
  if (!existsSync(join(root, page))) return false
  const number = section.replaceAll('.', '\\.')
  return section === '' || new RegExp(`^(?:#+ )?${number}\\.? `, 'm').test(read(page))
}

/** Answered without an operation being reached. */
const general = ['not_found', 'method_not_allowed']

test('each test that a page names is there', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:packages|e2e|proof)\/[\w/-]+\.test\.ts)`/g)].map(([, file = '']) => ({
      page,
      file,
    })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ file }) => !existsSync(join(root, file)))).toEqual([])
})

describe('what is printed from the code', () => {
  test('is what the repository holds: npm run docs', async () => {
    for (const [file, text] of Object.entries(await printDocs())) expect(read(file), file).toBe(text)
  })

  test('errors.md lists every error there is, and no other', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| \d/gm)].map(([, code]) => code)
    expect(listed.toSorted()).toEqual(Object.keys(errors).toSorted())
  })

  test('every error can be answered by an operation', () => {
    const all = Object.values({ ...operations, ...agentOperations, ...proxyOperations })
    const answered = new Set<string>([...all.flatMap(errorsOf), ...general])
    expect(Object.keys(errors).filter((code) => !answered.has(code))).toEqual([])
  })
})

describe('what is written by hand', () => {
  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = pages.flatMap((file) =>
      [...read(file).matchAll(/\bnpm (?:run (?:-\S+ )*([\w:-]+)|(test|start|stop)\b)/g)].map(
        ([, run, short]) => ({ file, script: run ?? short ?? '' }),
      ),
    )
    expect(named.some(({ file }) => file === 'README.md')).toBe(true)
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([])
  })

  test('links to files that exist', () => {
    const broken = pages.flatMap((file) =>
      [...read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, to = '']) => to)
        .filter((to) => !/^[a-z]+:/.test(to) && !existsSync(join(root, dirname(file), to)))
        .map((to) => `${file} → ${to}`),
    )
    expect(broken).toEqual([])
  })

  test('cites pages that the repository holds, and sections of them', () => {
    const cited = sources.flatMap((file) => citations(read(file)).map((citation) => ({ file, ...citation })))
    expect(cited).toContainEqual(
      expect.objectContaining({ page: 'docs/measurements/handover.md', section: '4' }),
    )
    expect(cited.filter(({ page, section }) => !isThere(page, section))).toEqual([])
    const outside = /\b(facts on|facts of the|DESIGN ?§)/
    expect(sources.filter((file) => outside.test(read(file)))).toEqual([])
  })

  test('names files that exist, in pages and in comments', () => {
    const short = (file: string) => `/${file.replace(/^packages\//, '').replace('/src/', '/')}`
    const known = [...sources, ...pages, ...find('*.ts', 'bench/**/*.md')].map(short)
    const ofPage = /`([\w./-]+\.(?:ts|mjs|md))`/g
    const ofComment = /(?<![\w./-])([\w./-]+\.(?:ts|mjs|md))\b/g
    const named = [
      ...pages.flatMap((file) => [...read(file).matchAll(ofPage)].map(([, name = '']) => ({ file, name }))),
      ...sources.flatMap((file) =>
        [...read(file).matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)]
          .flatMap(([comment]) => [...comment.matchAll(ofComment)])
          .map(([, name = '']) => ({ file, name })),
      ),
    ]
    expect(named.length).toBeGreaterThan(300)
    const isKnown = (name: string) => known.some((one) => one.endsWith(short(name)))
    expect(named.filter(({ name }) => !name.startsWith('-') && !isKnown(name))).toEqual([])
  })

  test('the glossary defines every word of the design', () => {
    const defined = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\*/gm)].flatMap(([, words = '']) =>
      words.split(', '),
    )
    expect(words.filter((word) => !defined.includes(word))).toEqual([])
    expect(defined).toEqual([...new Set(defined)])
  })

  test('the changelog has an Unreleased section', () => {
    expect(read('CHANGELOG.md')).toMatch(/^## \[?Unreleased\]?/m)
  })
})

describe('what a file of a package exports', () => {
  test('is documented right above it, if another file imports it', () => {
    const imported = new Set(
      sources.flatMap((file) =>
        importsOf(read(file)).flatMap(({ from, names }) =>
          names.map((name) => `${from.startsWith('.') ? join(dirname(file), from) : homeOf(from)}: ${name}`),
        ),
      ),
    )
    const silent = find('packages/*/src/**/*.ts')
      .flatMap((file) => withoutDoc(read(file)).map((name) => ({ file, name })))
      .filter(({ file, name }) => [file, file.split('/src/')[0]].some((at) => imported.has(`${at}: ${name}`)))
    expect(silent).toEqual([])
  })

  test('counts as documented only with a doc comment of its own', () => {
    const text = '/** A. */\nexport const a = 1\nexport const b = 2\n// C.\nexport async function c() {}\n'
    expect(withoutDoc(text)).toEqual(['b', 'c'])
    expect(withoutDoc('/** D. */\n\nexport function* d() {}\nexport interface E {}')).toEqual(['d', 'E'])
    expect(withoutDoc('/** F. */\nexport const F = 1\nexport type F = typeof F')).toEqual([])
  })
})

/** "@fairlead/api" → "packages/api": its index hands on what its files export. */
function homeOf(from: string): string {
  return from.replace(/^@fairlead\//, 'packages/')
}

/** A type and a value of one name share a comment. */
function withoutDoc(text: string): readonly string[] {
  const byName = Map.groupBy(exportsOf(text), ({ name }) => name)
  return [...byName].filter(([, ones]) => !ones.some((one) => one.documented)).map(([name]) => name)
}

describe('decisions', () => {
  test('are numbered from 1, each number once', () => {
    const numbers = decisions.map((file) => Number(/\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]))
    expect(numbers).toEqual(decisions.map((_, n) => n + 1))
  })

  test('say why, what, what follows, and how it is kept', () => {
    for (const file of decisions) {
      const headings = [...read(file).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
      expect(headings, file).toEqual(['Background', 'Decision', 'Consequences', 'How it is kept'])
    }
  })

  test('account for every dependency, and the dependencies are exact', () => {
    const text = decisions.map(read).join('\n')
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies']
    const named = packageFiles.flatMap((file) => {
      const parts = JSON.parse(read(file)) as Record<string, Record<string, string> | undefined>
      return kinds.flatMap((kind) => Object.entries(parts[kind] ?? {}))
    })
    expect(named.filter(([name]) => !name.startsWith('@fairlead/') && !text.includes(`\`${name}\``))).toEqual(
      [],
    )
    expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

describe('every text file', () => {
  const files = find('**/*', '.ci/*', '.npmrc', '.node-version', '.gitignore').filter((file) =>
    /(\.(m?[jt]s|json|md|sh|yml|yaml|toml|sql)|\.ci\/\w+|(^|\/)\.[\w-]+)$/.test(file),
  )

  test('is free of package hosts: where packages come from is the business of the machine', () => {
    const host = new RegExp(`//[^/\\s'"\`]*(${hosts.join('|')})`, 'i')
    expect(files.filter((file) => host.test(read(file)))).toEqual([])
    expect(
      files.filter((file) => file.endsWith('package-lock.json') && read(file).includes('"resolved": "http')),
    ).toEqual([])
  })

  test('is free of paths of the machine it was written on', () => {
    const path = new RegExp(`(?<![\\w.*}])/(${['work', 'root', 'home', 'Users', 'tmp'].join('|')})/[\\w.]`)
    expect(files.filter((file) => path.test(read(file)))).toEqual([])
  })
})

const hosts = [
  'registry',
  'npmjs',
  'yarnpkg',
  'npmmirror',
  'artifactory',
  'nexus',
  'mirror',
  'debian',
  'ubuntu',
]

/** The words of the design, and those of the field that the code uses. */
const words = [
  ...['node', 'engine build', 'flavour', 'database', 'group', 'shard', 'primary', 'replica', 'endpoint'],
  ...['TLS certificate', 'authority'],
  ...['goal', 'revision', 'plan', 'lane', 'step', 'action', 'surge shard', 'handover', 'standby', 'finalize'],
  ...[
    'replication offset',
    'replication id',
    'backlog',
    'full sync',
    'partial sync',
    'write stop',
    'client gap',
  ],
  ...['management', 'permission', 'role', 'operator', 'epoch', 'audit', 'signing key'],
  ...['module', 'module package', 'capability', 'self-test'],
  ...['ledger', 'certificate', 'refusal', 'trouble', 'obstacle', 'adopt', 'lease'],
]

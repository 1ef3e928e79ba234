import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentOperations, errors, errorsOf, operations, proxyOperations } from '@fairlead/api'
import { printDocs } from '../print-docs.ts'
import { readInvariants } from '../print-invariants.ts'
import { mustSee, rule } from './rule.ts'
import { find, read, root } from './tree.ts'

const pages = find('*.md', '{docs,changes}/**/*.md')
/** The pages that users read. */
const documents = find('docs/*.md', 'docs/{start,operate,reference,explain}/**/*.md')
const isMissing = (file: string) => !existsSync(join(root, file))

/** Answered without an operation being reached. */
const general = ['not_found', 'method_not_allowed']

/** What pages say of the repository. */
export const pagesOfRepository = [
  rule('pages that are printed from the code are what the repository holds: npm run docs', async () =>
    Object.entries(await printDocs())
      .filter(([file, text]) => read(file) !== text)
      .map(([file]) => file),
  ),

  rule('an invariant has a statement that no other has, right above its test', () => {
    const invariants = readInvariants()
    mustSee(invariants.length, 101)
    const statements = invariants.map(({ statement }) => statement)
    return invariants
      .filter(
        ({ statement, test }, at) =>
          statement === '' ||
          statements.indexOf(statement) !== at ||
          !/^(test|describe|rule|gives)\b/.test(test),
      )
      .map(({ file, statement }) => `${file}: ${statement}`)
  }),

  rule('errors.md lists every error there is, and no other', () => {
    const listed = [...read('docs/reference/errors.md').matchAll(/^\| `(\w+)` \| \d/gm)].map(
      ([, code = '']) => code,
    )
    return difference(listed, Object.keys(errors))
  }),

  rule('every error can be answered by an operation', () => {
    const all = Object.values({ ...operations, ...agentOperations, ...proxyOperations })
    const answered = new Set<string>([...all.flatMap(errorsOf), ...general])
    return Object.keys(errors).filter((code) => !answered.has(code))
  }),

  rule('pages name tests that exist', () => {
    const named = namedIn(/`((?:packages|e2e|proof)\/[\w/-]+\.test\.ts)`/g)
    mustSee(named.length, 51)
    return named.filter(({ name }) => isMissing(name)).map(({ file, name }) => `${file}: ${name}`)
  }),

  rule('pages name npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = namedIn(/\bnpm (?:run (?:-\S+ )*)?((?<=run [^\n]*)[\w:-]+|(?:test|start|stop)\b)/g)
    mustSee(named.filter(({ file }) => file === 'README.md').length, 1)
    return named.filter(({ name }) => !(name in scripts)).map(({ file, name }) => `${file}: npm run ${name}`)
  }),

  rule('pages link to files that exist', () =>
    namedIn(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)
      .filter(({ file, name }) => !/^[a-z]+:/.test(name) && isMissing(join(dirname(file), name)))
      .map(({ file, name }) => `${file} → ${name}`),
  ),

  rule('pages in docs link to headings that exist', () =>
    namedIn(/\]\(([^)\s]*#[^)\s]+)\)/g, documents)
      .filter(({ file, name }) => !/^[a-z]+:/.test(name) && isMissingHeading(file, name))
      .map(({ file, name }) => `${file} → ${name}`),
  ),

  rule('no line of a page in docs has more than 400 columns', () =>
    documents.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => line.length > 400)
        .map((line) => `${file}: ${line.slice(0, 40)}…`),
    ),
  ),

  rule('the glossary defines at most 40 words, each once, and those of the design', () => {
    const rows = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\*/gm)]
    const defined = rows.flatMap(([, named = '']) => named.split(', '))
    return [
      ...words.filter((word) => !defined.includes(word)),
      ...defined.filter((word, at) => defined.indexOf(word) !== at).map((word) => `${word}: twice`),
      ...defined.slice(40).map((word) => `${word}: one too many`),
    ]
  }),

  rule('the changelog begins with the version of package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    return /^## (.*)$/m.exec(read('CHANGELOG.md'))?.[1] === version ? [] : [`CHANGELOG.md: not ${version}`]
  }),

  rule('a fragment of the changelog is named area-what.md and holds one sentence on one line', () =>
    find('changes/*')
      .filter((file) => file !== 'changes/README.md')
      .filter((file) => !/\/[a-z]+(-[a-z0-9]+)+\.md$/.test(file) || !/^\S.{0,398}\.\n$/.test(read(file))),
  ),
]

/** What the first group of `pattern` finds in pages. */
function namedIn(
  pattern: RegExp,
  among = pages,
): readonly { readonly file: string; readonly name: string }[] {
  return among.flatMap((file) => [...read(file).matchAll(pattern)].map(([, name = '']) => ({ file, name })))
}

/** Returns true if a link like `limits.md#time` leads to no heading. */
function isMissingHeading(file: string, link: string): boolean {
  const [page = '', heading = ''] = link.split('#')
  const target = page === '' ? file : join(dirname(file), page)
  return target.endsWith('.md') && !isMissing(target) && !headingsOf(read(target)).includes(heading)
}

/** Returns the anchor of a heading: lower case, hyphens between words. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** What is in one of both only. */
function difference(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...some.filter((one) => !others.includes(one)), ...others.filter((one) => !some.includes(one))]
}

/** The words of the design, without those of the engines' own manuals. */
const words = [
  ...['node', 'flavour', 'engine build', 'database', 'group', 'shard', 'endpoint'],
  ...['goal', 'revision', 'plan', 'lane', 'step', 'action', 'order', 'obstacle', 'refusal', 'trouble'],
  ...[
    'lease',
    'epoch',
    'surge shard',
    'handover',
    'standby',
    'finalize',
    'certificate',
    'operator',
    'ledger',
  ],
  // A length of a handover each, with the meaning of packages/api/src/contract/handover-words.ts.
  ...['write stop', 'longest wait', 'hold', 'whole handover', 'client gap'],
]

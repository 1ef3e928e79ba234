import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentOperations, errors, errorsOf, operations, proxyOperations } from '@fairlead/api'
import { printDocs } from '../print-docs.ts'
import { mustSee, rule } from './rule.ts'
import { find, read, root } from './tree.ts'

const pages = find('*.md', 'docs/**/*.md')
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

  rule('the glossary defines every word of the design, each once', () => {
    const rows = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\*/gm)]
    const defined = rows.flatMap(([, named = '']) => named.split(', '))
    return [
      ...words.filter((word) => !defined.includes(word)),
      ...defined.filter((word, at) => defined.indexOf(word) !== at).map((word) => `${word}: twice`),
    ]
  }),

  rule('the changelog has an Unreleased section', () =>
    /^## \[?Unreleased\]?/m.test(read('CHANGELOG.md')) ? [] : ['CHANGELOG.md'],
  ),
]

/** What the first group of `pattern` finds in pages. */
function namedIn(
  pattern: RegExp,
  among = pages,
): readonly { readonly file: string; readonly name: string }[] {
  return among.flatMap((file) => [...read(file).matchAll(pattern)].map(([, name = '']) => ({ file, name })))
}

/** Whether a link like `limits.md#time` leads to no heading. */
function isMissingHeading(file: string, link: string): boolean {
  const [page = '', heading = ''] = link.split('#')
  const target = page === '' ? file : join(dirname(file), page)
  return target.endsWith('.md') && !isMissing(target) && !headingsOf(read(target)).includes(heading)
}

/** As links name them: in lower case, hyphens between words. */
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

import { rule } from './rule.ts'
import { find, read } from './tree.ts'

const pages = find('docs/decisions/[0-9]*.md')
const packageFiles = find('{.,packages/*,ledger,tools/node}/package.json')
const headings = 'Decision, Why, Cost, What would overturn it'
const mostWords = 350

/** Rules about docs/decisions. */
export const decisions = [
  rule('a decision has a number of its own, which its heading repeats', () =>
    pages.filter((file, at) => {
      const number = numberOf(file)
      return (
        number === undefined || number === numberOf(pages[at - 1]) || !read(file).startsWith(`# ${number} `)
      )
    }),
  ),

  rule('a decision has a status with a date: accepted, or replaced by another decision', () =>
    pages.filter((file) => {
      const [, , status = ''] = read(file).split('\n')
      const [, other] = /^Status: (?:accepted|replaced by \[(\d{4})\]\(.*\)), \d{4}-\d\d-\d\d\./.exec(
        status,
      ) ?? [null]
      return other === null || (other !== undefined && !pages.some((page) => numberOf(page) === other))
    }),
  ),

  rule(`a decision has the headings ${headings}, and at most ${mostWords} words`, () =>
    pages.filter((file) => {
      const found = [...read(file).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
      return found.join(', ') !== headings || read(file).split(/\s+/).length > mostWords + 1
    }),
  ),

  rule('the index of decisions has one row for each', () => {
    const rows = [...read('docs/decisions/README.md').matchAll(/^\| \[\d{4}\]\((.*?)\)/gm)]
    const listed = rows.map(([, name]) => `docs/decisions/${name}`)
    return listed.join() === pages.join()
      ? []
      : pages.filter((page) => !listed.includes(page)).concat('order')
  }),

  rule('code and pages cite decisions that exist', () => {
    const numbers = pages.map((page) => Number(numberOf(page)))
    return find(
      '*.md',
      '{docs,bench}/**/*.md',
      '{packages,ledger,tools,e2e,proof,bench,demo}/**/*.{ts,tsx,mjs}',
    ).flatMap((file) =>
      [...read(file).matchAll(/\b(?:[Dd]ecision|ADR) (\d+)\b|decisions\/(\d{4})/g)]
        .filter(([, short, long]) => !numbers.includes(Number(short ?? long)))
        .map(([cited]) => `${file}: ${cited}`),
    )
  }),

  rule('decisions account for every dependency', () => {
    const text = read('docs/decisions/dependencies.md')
    return dependencies()
      .filter(({ name }) => !name.startsWith('@fairlead/') && !text.includes(`\`${name}\``))
      .map(({ file, name }) => `${file}: ${name}`)
  }),

  rule('dependencies are exact', () =>
    dependencies()
      .filter(({ version }) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(({ file, name, version }) => `${file}: ${name} ${version}`),
  ),
]

/** "docs/decisions/0006-level-triggered.md" → "0006". */
function numberOf(file = ''): string | undefined {
  return /\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]
}

function dependencies() {
  return packageFiles.flatMap((file) => {
    const parts = JSON.parse(read(file)) as Record<string, Record<string, string> | undefined>
    return ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((kind) => Object.entries(parts[kind] ?? {}))
      .map(([name, version]) => ({ file, name, version }))
  })
}

import { rule } from './rule.ts'
import { find, read } from './tree.ts'

const pages = find('docs/decisions/*.md')
const packageFiles = find('{.,packages/*,ledger,tools/node}/package.json')
const headings = 'Background, Decision, Consequences, How it is kept'

/** What decisions say, and account for. */
export const decisions = [
  rule('decisions are numbered from 1, each number once', () =>
    pages.filter((file, at) => Number(/\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]) !== at + 1).slice(0, 1),
  ),

  rule(`decisions say why, what, what follows, and how it is kept: ${headings}`, () =>
    pages.filter((file) => {
      const found = [...read(file).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
      return found.join(', ') !== headings
    }),
  ),

  rule('decisions account for every dependency', () => {
    const text = pages.map(read).join('\n')
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

function dependencies() {
  return packageFiles.flatMap((file) => {
    const parts = JSON.parse(read(file)) as Record<string, Record<string, string> | undefined>
    return ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((kind) => Object.entries(parts[kind] ?? {}))
      .map(([name, version]) => ({ file, name, version }))
  })
}

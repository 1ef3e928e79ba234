import { exportsOf } from './read-exports.ts'
import { rule } from './rule.ts'
import { find, importsIn, isLocal, read, target } from './tree.ts'

/** What the exports of a package have to say of themselves. */
export const documented = [
  rule('what a file of a package exports is documented right above it, if another file imports it', () => {
    const users = find(
      ...['packages/**/*.ts', 'ledger/**/*.ts', 'tools/**/*.{ts,mjs}', '{e2e,proof,bench,demo}/**/*.ts'],
    )
    const imported = new Set(
      users.flatMap((file) =>
        importsIn(file).flatMap(({ from, names }) =>
          names.map((name) => `${isLocal(from) ? target(file, from) : homeOf(from)}: ${name}`),
        ),
      ),
    )
    return find('packages/*/src/**/*.ts')
      .flatMap((file) => withoutDoc(read(file)).map((name) => ({ file, name })))
      .filter(({ file, name }) => [file, file.split('/src/')[0]].some((at) => imported.has(`${at}: ${name}`)))
      .map(({ file, name }) => `${file}: ${name}`)
  }),

  rule('an export counts as documented only with a doc comment of its own', () => {
    const text = [
      '/** A. */\nexport const a = 1\nexport const b = 2\n// C.\nexport async function c() {}\n',
      '/** D. */\n\nexport function* d() {}\nexport interface E {}\n',
      '/** F. */\nexport const F = 1\nexport type F = typeof F',
    ].join('')
    const seen = withoutDoc(`${text}\nexport type G = ReturnType<typeof createG>\n`).join()
    return seen === 'b,c,d,E' ? [] : [`seen: ${seen}`]
  }),
]

/** "@fairlead/api" → "packages/api": its index hands on what its files export. */
function homeOf(from: string): string {
  return from.replace(/^@fairlead\//, 'packages/')
}

/** A type and a value of one name share a comment. The type of a factory's result is documented there. */
function withoutDoc(text: string): readonly string[] {
  const results = new Set(
    [...text.matchAll(/^export type (\w+) = (?:Awaited<)?ReturnType<typeof \w+>>?$/gm)].map(
      ([, name]) => name,
    ),
  )
  const byName = Map.groupBy(exportsOf(text), ({ name }) => name)
  return [...byName]
    .filter(([name, ones]) => !results.has(name) && !ones.some((one) => one.documented))
    .map(([name]) => name)
}

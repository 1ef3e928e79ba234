import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Import, importsOf } from './read-imports.ts'

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

const not = ['node_modules', 'dist', '.fairlead', '.git', 'coverage']

/** The files of the repository that fit, sorted; nothing that is installed or built. */
export function find(...patterns: readonly string[]): readonly string[] {
  const isLeftOut = ({ name }: { readonly name: string }) => not.includes(name)
  const found = globSync([...patterns], { cwd: root, exclude: isLeftOut, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .toSorted()
}

const texts = new Map<string, string>()
const imports = new Map<string, readonly Import[]>()

/** The text of a file of the repository. */
export function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8')
  texts.set(file, text)
  return text
}

/** What a file imports. */
export function importsIn(file: string): readonly Import[] {
  const found = imports.get(file) ?? importsOf(read(file))
  imports.set(file, found)
  return found
}

/** Whether a file is a test, or what only tests use: named test-…, or in a folder named test. */
export function isTest(file: string): boolean {
  return /\.test\.ts$|(^|\/)test(-[\w-]+\.ts$|\/)/.test(file)
}

/** All code of the packages and of the ledger, tests too. */
export const files = find('packages/*/{src,test}/**/*.{ts,tsx}', 'ledger/{src,test}/**/*.ts')
/** What ships. */
export const product = files.filter((file) => !isTest(file))
/** All code of the repository. */
export const everything = [...files, ...find('{demo,bench,e2e,proof,tools}/**/*.{ts,mjs}', '*.ts')]

/** "packages/api/src/index.ts" → "api". */
export function packageOf(file: string): string {
  return file.startsWith('packages/') ? (file.split('/')[1] ?? '') : 'ledger'
}

/** "packages/api/src/index.ts" → "packages/api". */
export function homeOf(file: string): string {
  return file.startsWith('packages/') ? `packages/${packageOf(file)}` : 'ledger'
}

/** Whether an import names a file, not a package. */
export function isLocal(from: string): boolean {
  return from.startsWith('.')
}

/** The file that a local import leads to. */
export function target(file: string, from: string): string {
  return join(dirname(file), from)
}

/** "typebox/value" → "typebox", "@fairlead/api" → itself. */
export function libraryOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Every import of `among` for which `isWrong` holds, as "file → what". */
export function strays(
  among: readonly string[],
  isWrong: (file: string, imported: Import) => boolean,
): readonly string[] {
  return among.flatMap((file) =>
    importsIn(file)
      .filter((imported) => isWrong(file, imported))
      .map(({ from }) => `${file} → ${from}`),
  )
}

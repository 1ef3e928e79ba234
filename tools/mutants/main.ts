/**
 * `npm run mutants`: puts one fault after the other into a copy of the tree, and runs the tests that must
 * find it. Arguments, which are parts of files or names, select faults. Ends with 1 when a fault is not
 * found.
 */
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allMutants } from './all-mutants.ts'
import { type Mutant, mutate } from './mutant.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const copied = ['package.json', 'vitest.config.ts', 'packages', 'ledger', 'proof', 'tools']

/**
 * A copy of the tree, in which every package may be changed: each import of one leads to the copy. What is
 * installed stays where it is.
 */
async function copyTree(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-mutants-'))
  const isOurs = (path: string) => basename(path) !== 'node_modules'
  for (const name of copied)
    await cp(join(root, name), join(folder, name), { recursive: true, filter: isOurs })
  await symlink(join(root, '.fairlead'), join(folder, '.fairlead'))
  await mkdir(join(folder, 'node_modules'))
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@fairlead')
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  // Its links are relative.
  const ours = join('node_modules', '@fairlead')
  await cp(join(root, ours), join(folder, ours), { recursive: true, verbatimSymlinks: true })
  return folder
}

interface Run {
  readonly failed: readonly string[]
  readonly passed: number
  /** Test files that could not be run at all. */
  readonly broken: readonly string[]
}

async function runTests(folder: string, files: readonly string[], named?: string): Promise<Run> {
  const report = join(folder, 'report.json')
  await rm(report, { force: true })
  const args = [
    '--conditions=@fairlead/source',
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project=!* on PostgreSQL',
  ]
  const output = ['--reporter=json', `--outputFile=${report}`, '--bail=1', '--testTimeout=60000']
  const only = named === undefined ? [] : ['-t', named]
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args, ...output, ...only, ...files], {
      cwd: folder,
      stdio: 'ignore',
    })
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  return {
    failed: all.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    passed: all.filter(({ status }) => status === 'passed').length,
    broken: testResults
      .filter(({ assertionResults, status }) => status === 'failed' && assertionResults.length === 0)
      .map(({ name }) => name),
  }
}

/** The parts of Vitest's report that are read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/**
 * Throws when one of the tests fails without any fault. Of files of which only some tests are asked, only
 * these run.
 */
async function mustBeSound(mutants: readonly Mutant[], folder: string): Promise<void> {
  const filesOf = (some: readonly Mutant[]) => [...new Set(some.flatMap(({ tests }) => tests))]
  const whole = filesOf(mutants.filter(({ named }) => named === undefined))
  const parts = filesOf(mutants).filter((file) => !whole.includes(file))
  const names = mutants.flatMap(({ named = [] }) => named).join('|')
  for (const [files, named] of [[whole, undefined] as const, [parts, names] as const]) {
    if (files.length === 0) continue
    const { failed, broken, passed } = await runTests(folder, files, named)
    if (broken.length > 0 || failed.length > 0 || passed === 0)
      throw new Error(`without any fault these fail already: ${[...failed, ...broken].join(', ')}`)
  }
}

/** Undefined if the fault is found, otherwise the reason why not. */
async function whyNotFound(mutant: Mutant, folder: string): Promise<string | undefined> {
  const file = join(folder, mutant.file)
  const before = await readFile(file, 'utf8')
  await writeFile(file, mutate(before, mutant))
  try {
    const { failed, passed, broken } = await runTests(folder, mutant.tests, mutant.named)
    if (failed.length > 0) return undefined
    return broken.length > 0 || passed === 0
      ? 'its tests do not run'
      : `${passed} tests pass: ${mutant.tests.join(', ')}`
  } finally {
    await writeFile(file, before)
  }
}

const asked = process.argv.slice(2)
const mutants = allMutants.filter(
  ({ file, name }) => asked.length === 0 || asked.some((part) => `${file}: ${name}`.includes(part)),
)
const folder = await copyTree()
let found = 0
try {
  await mustBeSound(mutants, folder)
  for (const mutant of mutants) {
    const began = performance.now()
    const why = await whyNotFound(mutant, folder)
    const seconds = Math.round((performance.now() - began) / 1_000)
    if (why === undefined) found += 1
    console.log(`${why === undefined ? 'found    ' : 'NOT FOUND'} ${mutant.name} (${seconds} s)`)
    if (why !== undefined) console.log(`          breaks: ${mutant.breaks}\n          ${why}`)
  }
} finally {
  await rm(folder, { recursive: true })
}
console.log(`${found} of ${mutants.length} mutants found`)
process.exitCode = mutants.length > 0 && found === mutants.length ? 0 : 1

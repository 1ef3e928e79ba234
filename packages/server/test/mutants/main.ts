/**
 * `npm run mutants`: puts one fault after the other into a copy of the server, and runs the tests that must find it.
 * Arguments, which are parts of files or names, select faults. Ends with 1 when a fault is not found.
 */
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutate } from './mutant.ts'
import { mutantsOfCore } from './mutants-of-core.ts'
import { mutantsOfHandover } from './mutants-of-handover.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const source = 'packages/server/src'

/** A copy of the tree, in which the server may be changed. What it imports from other packages stays where it is. */
async function copyTree(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-mutants-'))
  await mkdir(join(folder, 'packages'))
  for (const name of ['package.json', 'vitest.config.ts', 'tools/plain-reporter.ts', 'packages/server'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  for (const name of [
    'node_modules',
    'proof',
    'packages/api',
    'packages/engine',
    'packages/agent',
    'packages/proxy',
  ])
    await symlink(join(root, name), join(folder, name))
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
  const args = ['--conditions=@fairlead/source', 'node_modules/vitest/vitest.mjs', 'run', '--project=by two']
  const output = ['--reporter=json', `--outputFile=${report}`, '--bail=1']
  const only = named === undefined ? [] : ['-t', named]
  const paths = files.map((file) => join(source, file))
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args, ...output, ...only, ...paths], {
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

/** Undefined if the fault is found, otherwise the reason why not. */
async function whyNotFound(mutant: Mutant, folder: string): Promise<string | undefined> {
  const file = join(folder, source, mutant.file)
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
const mutants = [...mutantsOfCore, ...mutantsOfHandover].filter(
  ({ file, name }) => asked.length === 0 || asked.some((part) => `${file}: ${name}`.includes(part)),
)
const folder = await copyTree()
let found = 0
try {
  const sound = await runTests(folder, [...new Set(mutants.flatMap(({ tests }) => tests))])
  if (sound.broken.length > 0 || sound.failed.length > 0 || sound.passed === 0)
    throw new Error(`without any fault these fail already: ${[...sound.failed, ...sound.broken].join(', ')}`)
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

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '@fairlead/engine'

/**
 * 1.1.0 is 1.0.0 with another number; 2.0.0 has names, and an encoding for them; 3.0.0 hangs in TALLY.GET.
 */
export const tallyVersions = ['1.0.0', '1.1.0', '2.0.0', '3.0.0'] as const
export type TallyVersion = (typeof tallyVersions)[number]

/** The folder of the modules of the tests, all built or fetched by the set-up. */
export const modulesFolder = join(import.meta.dirname, '../../.fairlead/test-modules')

const source = join(import.meta.dirname, 'tally/tally.c')
/** A module that is older than one of these is built again; the last has the flags. */
const madeFrom = [source, join(import.meta.dirname, 'tally/module-api.h'), import.meta.filename]
/** Measured: 0.1 s each. */
const buildDeadlineMs = 60_000

/**
 * The path of our own test module in this version. Builds it when it is missing or older than its source;
 * several may do so at once. Throws with what to install when there is no compiler.
 */
export async function testModule(version: TallyVersion, folder = modulesFolder): Promise<string> {
  const path = join(folder, `tally-${version}.so`)
  if (!(await isUpToDate(path))) await build(version, path)
  return path
}

/** Builds those versions that are missing or older than the source. */
export async function buildModules(): Promise<void> {
  for (const version of tallyVersions) await testModule(version)
}

async function isUpToDate(path: string): Promise<boolean> {
  const made = await changedAt(path)
  const sources = await Promise.all(madeFrom.map(changedAt))
  return made !== undefined && sources.every((changed) => changed !== undefined && changed <= made)
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw cause
  }
}

/**
 * Built under a temporary name first: a process that builds at the same time, or an engine, never sees a
 * half-written file.
 */
async function build(version: TallyVersion, path: string): Promise<void> {
  const [major, minor, patch] = version.split('.')
  const half = `${path}.${randomUUID()}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await compile([
      ...['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC'],
      ...[`-DMAJOR=${major}`, `-DMINOR=${minor}`, `-DPATCH=${patch}`],
      ...(version === '3.0.0' ? ['-DHANGS'] : []),
      ...['-o', half, source],
    ])
    await rename(half, path)
  } finally {
    await rm(half, { force: true })
  }
}

async function compile(args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('gcc', args, { timeout: buildDeadlineMs, killSignal: 'SIGKILL' })
  } catch (cause) {
    const { code, stderr = '' } = cause as { readonly code?: unknown; readonly stderr?: string }
    const advice = 'install gcc and libc6-dev: the module of the tests is built with them'
    if (code === 'ENOENT') throw new Error(`gcc is not on PATH; ${advice}`, { cause })
    if (/\.h: No such file|cannot find (Scrt1|crti|-lc\b)/.test(stderr))
      throw new Error(`gcc is without the C library's headers; ${advice}`, { cause })
    throw cause
  }
}

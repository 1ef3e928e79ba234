import { createHash } from 'node:crypto'
import { chmod, copyFile, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readProgramVersion } from '@fairlead/engine'
import { copyLibraries } from './copy-libraries.ts'
import { FetchError } from './fetch-error.ts'
import { readAptFailure } from './read-apt-failure.ts'
import type { Offer } from './read-offers.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'
import { followInside } from './unpacked-tree.ts'

/** A package of 3 MB takes 0.2 s, a program's version 20 ms. */
const unpackDeadlineMs = 60_000
const startDeadlineMs = 10_000

/**
 * Makes a build that runs anywhere on this machine from the .deb files in `debs`: `exe` (the programs), `lib`
 * (their suite's C library, loader and others), `bin` (wrappers that combine the two), META, VERSION,
 * DEBS.sha256. Unpacks into `root`; neither `root` nor `to` may exist. Throws FetchError.
 */
export async function unpackBuild(options: {
  readonly debs: string
  readonly root: string
  readonly to: string
  readonly offer: Offer
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly signal?: AbortSignal | undefined
}): Promise<void> {
  const { debs, root, to, offer, env, signal } = options
  const run = (program: string, args: readonly string[], deadlineMs: number) =>
    runProgram({ program, args, deadlineMs, cwd: dirname(to), env, setting: { LC_ALL: 'C' }, signal })

  await mkdir(root)
  const packages = (await readdir(debs)).filter((name) => name.endsWith('.deb')).toSorted()
  for (const name of packages) {
    const end = await run('dpkg-deb', ['--extract', join(debs, name), root], unpackDeadlineMs)
    if (end.code !== 0) throw readAptFailure(`unpacking ${name}`, end)
  }
  await mkdir(join(to, 'exe'), { recursive: true })
  const programs = await copyPrograms(root, to, offer.flavour)
  const start = (program: string, args: readonly string[]) => run(program, args, startDeadlineMs)
  const loader = await copyLibraries({ root, to, programs, run: start })
  await writeWrappers(to, programs, loader, offer.flavour)
  await writePapers(to, debs, packages, offer)
  await openToAll(to)
  const end = await start(join(to, 'bin', `${offer.flavour}-server`), ['--version'])
  checkAnswer(end, offer)
  await writeFile(join(to, 'VERSION'), end.stdout)
  await chmod(join(to, 'VERSION'), 0o644)
}

/** Copies the programs to `<to>/exe` and returns their names. */
async function copyPrograms(root: string, to: string, flavour: string): Promise<readonly string[]> {
  const names = ['server', 'cli', 'benchmark', 'check-rdb', 'check-aof'].map((name) => `${flavour}-${name}`)
  const copied: string[] = []
  for (const name of names) {
    // Debian's server is in the package of the tools, under the name of one of them.
    const source = name === `${flavour}-server` ? `${flavour}-check-rdb` : name
    const file = await followInside(root, join(root, 'usr/bin', source))
    if (file === null) continue
    await copyFile(file, join(to, 'exe', name))
    copied.push(name)
  }
  if (copied.includes(`${flavour}-server`)) return copied
  throw new FetchError('does_not_start', `the package ${flavour}-tools holds no ${flavour}-server`)
}

async function writeWrappers(to: string, programs: readonly string[], loader: string, flavour: string) {
  await mkdir(join(to, 'bin'))
  // A server that is started under the name of a Sentinel acts as one, so the name matters.
  await link(join(to, 'exe', `${flavour}-server`), join(to, 'exe', `${flavour}-sentinel`))
  for (const name of [...programs, `${flavour}-sentinel`]) {
    const lines = [
      '#!/bin/sh',
      'd=$(dirname "$(dirname "$(readlink -f "$0")")")',
      '[ -d "$d/lua" ] && export LUA_CPATH="$d/lua/?.so"',
      `exec "$d/lib/${loader}" --library-path "$d/lib" "$d/exe/${name}" "$@"`,
    ]
    await writeFile(join(to, 'bin', name), `${lines.join('\n')}\n`)
  }
}

/** Records the origin: META, and the digest of every package. */
async function writePapers(to: string, debs: string, packages: readonly string[], offer: Offer) {
  const digests: string[] = []
  let bytes = 0
  for (const name of packages) {
    const content = await readFile(join(debs, name))
    bytes += content.length
    digests.push(`${createHash('sha256').update(content).digest('hex')}  ./${name}\n`)
  }
  await writeFile(join(to, 'DEBS.sha256'), digests.join(''))
  const { flavour, version, debianVersion, suite } = offer
  const meta = { flavour, version, debian: debianVersion, suite, download_bytes: bytes }
  const lines = Object.entries(meta).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(to, 'META'), lines.join(''))
}

/** Shards may run as another user than the fetching process, whatever its umask. */
async function openToAll(to: string): Promise<void> {
  await chmod(to, 0o755)
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    const runs = entry.isDirectory() || entry.parentPath !== to
    await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644)
  }
}

function checkAnswer(end: ProgramEnd, { flavour, version, suite }: Offer): void {
  const said = readProgramVersion(end.stdout)
  if (said?.flavour === flavour && said.version === version) return
  const words = (end.stderr.trim() || end.stdout.trim()).split('\n')[0]?.slice(0, 200)
  throw new FetchError(
    'does_not_start',
    `${flavour} ${version} from ${suite} does not start on this machine; it says ${words || 'nothing'}`,
  )
}

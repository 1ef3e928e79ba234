import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { FetchError } from './fetch-error.ts'
import type { ProgramEnd } from './run-program.ts'
import { followInside, namesIn } from './unpacked-tree.ts'

/** Libraries that are not linked but loaded later: by the C library for names, by modules. */
const alwaysKept = /^lib(nss_files|nss_dns|resolv|gcc_s|stdc\+\+|pthread|rt|dl|m)\.so\.\d+$/

/**
 * Copies into `<to>/lib` the libraries of the programs `<to>/exe/*`, from the packages unpacked in `root`,
 * and their loader. Returns the loader's name. Throws FetchError if a library is in no package.
 */
export async function copyLibraries(options: {
  readonly root: string
  readonly to: string
  readonly programs: readonly string[]
  readonly run: (program: string, args: readonly string[]) => Promise<ProgramEnd>
}): Promise<string> {
  const { root, to, programs, run } = options
  const directories = await findDirectories(root)
  const loader = await findLoader(root, directories)
  const paths = [loader]
  for (const program of programs) {
    const file = join(to, 'exe', program)
    const { stdout } = await run(loader, ['--library-path', directories.join(':'), '--list', file])
    paths.push(...readNeeded(stdout, program))
  }
  for (const directory of directories) {
    const names = await namesIn(directory)
    paths.push(...names.filter((name) => alwaysKept.test(name)).map((name) => join(directory, name)))
  }
  await mkdir(join(to, 'lib'), { recursive: true })
  for (const path of new Set(paths)) {
    const file = await followInside(root, path)
    if (file !== null) await copyFile(file, join(to, 'lib', basename(path)))
  }
  await copyLuaModules(root, to)
  return basename(loader)
}

/** Finds folders like `lib/x86_64-linux-gnu`. */
async function findDirectories(root: string): Promise<readonly string[]> {
  const above = [join(root, 'lib'), join(root, 'usr/lib')]
  const found = await Promise.all(
    above.map(async (folder) => (await namesIn(folder)).map((name) => join(folder, name))),
  )
  return found.flat().filter((path) => basename(path).includes('-linux-'))
}

/** Finds the loader, next to its C library, and makes it executable: bullseye's is not. */
async function findLoader(root: string, directories: readonly string[]): Promise<string> {
  for (const directory of directories) {
    const name = (await namesIn(directory)).find((file) => /^ld(-linux|64).*\.so\.\d+$/.test(file))
    const loader = name === undefined ? null : await followInside(root, join(directory, name))
    if (name === undefined || loader === null) continue
    await chmod(loader, 0o755)
    return join(directory, name)
  }
  throw new FetchError('does_not_start', 'no loader of programs came with the packages')
}

/** Returns the files that the loader would load, from its lines `name => path (address)`. */
function readNeeded(listed: string, program: string): readonly string[] {
  const missing = /^\s*(\S+) => not found/m.exec(listed)?.[1]
  if (missing !== undefined)
    throw new FetchError('does_not_start', `${program} needs ${missing}, which came with no package`)
  return listed.split('\n').flatMap((line) => /=> (.+) \(0x[0-9a-f]+\)$/.exec(line)?.[1] ?? [])
}

/** Copies the modules that Redis 6.0 loads for scripts at run time. */
async function copyLuaModules(root: string, to: string): Promise<void> {
  for (const triplet of await namesIn(join(root, 'usr/lib'))) {
    const folder = join(root, 'usr/lib', triplet, 'lua/5.1')
    for (const name of (await namesIn(folder)).filter((file) => file.endsWith('.so'))) {
      const file = await followInside(root, join(folder, name))
      if (file === null) continue
      await mkdir(join(to, 'lua'), { recursive: true })
      await copyFile(file, join(to, 'lua', name))
    }
  }
}

import { chmod, mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openAptRoot } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { type DebianWish, explainDisk, openDebian } from './open-debian.ts'
import { readAptFailure } from './read-apt-failure.ts'
import { runProgram } from './run-program.ts'
import { followInside } from './unpacked-tree.ts'

const unpackDeadlineMs = 60_000

/** Which file of which package to fetch, and where to. */
export interface FileWish extends Omit<DebianWish, 'folder'> {
  /** "bookworm". */
  readonly suite: string
  readonly packageName: string
  /** Where the file lies in the package, "usr/lib/…". */
  readonly path: string
  /** The file that it becomes. Its folder is made if it is not there. */
  readonly to: string
}

/**
 * Fetches one file of a package of Debian's with apt, without root, and makes it a program: engines load no module that
 * is none. It appears complete, in place of what was there. `bad_wish`: the suite has no such package, or it no such file.
 *
 * Throws FetchError, or the signal's reason; neither leaves anything behind. May run several times at once.
 */
export async function fetchFile(wish: FileWish): Promise<void> {
  const folder = dirname(resolve(wish.to))
  try {
    await fetchInto(folder, wish)
  } catch (cause) {
    throw explainDisk(folder, cause)
  }
}

async function fetchInto(folder: string, wish: FileWish): Promise<void> {
  const { suite, packageName, path, to, signal, env } = wish
  await using debian = await openDebian({ ...wish, folder })
  const { place, archive } = debian
  const apt = await openAptRoot(place, archive, [suite])
  const debs = join(place.folder, 'debs')
  await apt.downloadPackage(packageName, debs)

  const root = join(place.folder, 'root')
  await mkdir(root)
  for (const name of (await readdir(debs)).filter((file) => file.endsWith('.deb'))) {
    const args = ['--extract', join(debs, name), root]
    const setting = { LC_ALL: 'C' }
    const end = await runProgram({
      program: 'dpkg-deb',
      args,
      deadlineMs: unpackDeadlineMs,
      env,
      setting,
      signal,
    })
    if (end.code !== 0) throw readAptFailure(`unpacking ${name}`, end)
  }
  const file = await followInside(root, join(root, path))
  if (file === null)
    throw new FetchError('bad_wish', `the package ${packageName} of ${suite} has no file ${path}`)
  await chmod(file, 0o755)
  signal?.throwIfAborted()
  await rename(file, resolve(to))
}

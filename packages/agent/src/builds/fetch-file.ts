import { chmod, mkdir, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openAptRoot } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { type DebianRequest, explainDisk, openDebian } from './open-debian.ts'
import { unpackAll } from './unpack-all.ts'
import { followInside } from './unpacked-tree.ts'

/** File of a package to fetch, and its destination. */
export interface FileRequest extends Omit<DebianRequest, 'folder'> {
  /** "bookworm". */
  readonly suite: string
  readonly packageName: string
  /** Path in the package: "usr/lib/…". */
  readonly path: string
  /** Path of the resulting file. Its folder is made if missing. */
  readonly to: string
}

/**
 * Fetches one file of a Debian package with apt, without root, replaces an existing file atomically, and
 * makes it executable, as engines require of modules. `bad_request`: the suite lacks the package, or the
 * package lacks the file. Throws FetchError, or the signal's reason, and leaves no files then; may run
 * several times concurrently.
 */
export async function fetchFile(request: FileRequest): Promise<void> {
  const folder = dirname(resolve(request.to))
  try {
    await fetchInto(folder, request)
  } catch (cause) {
    throw explainDisk(folder, cause)
  }
}

async function fetchInto(folder: string, request: FileRequest): Promise<void> {
  const { suite, packageName, path, to, signal, env } = request
  await using debian = await openDebian({ ...request, folder })
  const { place, archive } = debian
  const apt = await openAptRoot(place, archive, [suite])
  const debs = join(place.folder, 'debs')
  await apt.downloadPackage(packageName, debs)

  const root = join(place.folder, 'root')
  await mkdir(root)
  await unpackAll(debs, root, { env, signal })
  const file = await followInside(root, join(root, path))
  if (file === null)
    throw new FetchError('bad_request', `the package ${packageName} of ${suite} has no file ${path}`)
  await chmod(file, 0o755)
  signal?.throwIfAborted()
  await rename(file, resolve(to))
}

import { mkdir, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openAptRoot } from './apt-root.ts'
import { type DebianRequest, explainDisk, openDebian } from './open-debian.ts'
import { unpackAll } from './unpack-all.ts'

/** Package to unpack, and its destination. */
export interface TreeRequest extends Omit<DebianRequest, 'folder'> {
  /** "bookworm". */
  readonly suite: string
  readonly packageName: string
  /** True for libraries that this machine has, or that are not needed. */
  readonly isHere: (library: string) => boolean
  /** Path of the resulting folder, which must not exist. */
  readonly to: string
}

/**
 * Unpacks a Debian package and its libraries into a folder; it installs nothing. The folder appears complete.
 * Throws FetchError, or the signal's reason, and leaves no files then.
 */
export async function fetchTree({ to, ...request }: TreeRequest): Promise<void> {
  const folder = dirname(resolve(to))
  const { suite, packageName, isHere } = request
  try {
    await using debian = await openDebian({ ...request, folder })
    const { place, archive } = debian
    const apt = await openAptRoot(place, archive, [suite])
    const debs = join(place.folder, 'debs')
    await apt.downloadTree(packageName, debs, isHere)
    const root = join(place.folder, 'root')
    await mkdir(root, { mode: 0o755 })
    await unpackAll(debs, root, request)
    request.signal?.throwIfAborted()
    await rename(root, resolve(to))
  } catch (cause) {
    throw explainDisk(folder, cause)
  }
}

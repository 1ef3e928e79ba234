import { mkdir, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openAptRoot } from './apt-root.ts'
import { type DebianRequest, explainDisk, openDebian } from './open-debian.ts'
import { unpackAll } from './unpack-all.ts'

/** Which package to unpack, and where. */
export interface TreeRequest extends Omit<DebianRequest, 'folder'> {
  /** "bookworm". */
  readonly suite: string
  readonly packageName: string
  /** Libraries that this machine has, or that are not needed. */
  readonly isHere: (library: string) => boolean
  /** The folder that it becomes, which is not there yet. */
  readonly to: string
}

/**
 * Unpacks a package of Debian's and the libraries that it needs into a folder of its own: nothing is installed. It appears complete.
 *
 * Throws FetchError, or the signal's reason; neither leaves anything behind.
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

import { access, statfs } from 'node:fs/promises'
import { codeOf, messageOf } from '@fairlead/engine'
import { type AptPlace, type Archive, findArchive, readArchitecture } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { makeWorkFolder } from './work-folder.ts'

const debianKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Measured: 88 MB with one package list, 152 MB with all of them. A build is 30 MB in the end. */
const roomMb = 160

/** How to reach Debian's archive. */
export interface DebianRequest {
  /** Where what is fetched goes in the end, so that it can be renamed into place. Made if it is not there. */
  readonly folder: string
  readonly signal?: AbortSignal | undefined
  /** The keys to trust. Default: Debian's, as this machine has them. */
  readonly keyring?: string
  /** What apt is run with: its PATH, a proxy. Default: what this process was. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Debian's archive, and a work folder for fetching from it. Disposing removes the folder. */
export interface OpenDebian extends AsyncDisposable {
  readonly place: AptPlace
  readonly archive: Archive
}

/** Looks whether this machine can fetch from Debian: apt, keys, room, a source. Throws FetchError when it cannot. */
export async function openDebian(request: DebianRequest): Promise<OpenDebian> {
  const { folder, signal, keyring = debianKeyring, env } = request
  const architecture = await readArchitecture({ env, signal })
  await checkKeyring(keyring)
  await using opened = new AsyncDisposableStack()
  const work = opened.use(await makeWorkFolder(folder))
  await checkRoom(folder)
  const place: AptPlace = { folder: work.path, keyring, env, signal }
  const archive = await findArchive(place, architecture)
  const owned = opened.move()
  return { place, archive, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** What the disk refuses is no bug of ours; it becomes a line like the other failures. */
export function explainDisk(folder: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new FetchError('disk_full', `the disk of ${folder} is full`, { cause })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(code))
    return new FetchError('failed', `cannot write into ${folder}: ${messageOf(cause)}`, { cause })
  return cause
}

/** On a full disk apt may print any error, even that the archive is not signed. So the room is checked first. */
async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= roomMb * 1_000_000) return
  throw new FetchError(
    'disk_full',
    `fetching from Debian takes ${roomMb} MB for a while; the disk of ${folder} has ${Math.floor((bavail * bsize) / 1_000_000)} MB free`,
  )
}

async function checkKeyring(keyring: string): Promise<void> {
  try {
    await access(keyring)
  } catch (cause) {
    const advice = 'install the package debian-archive-keyring'
    throw new FetchError('unsigned', `there is no keyring ${keyring} to check signatures with: ${advice}`, {
      cause,
    })
  }
}

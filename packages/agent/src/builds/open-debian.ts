import { access, statfs } from 'node:fs/promises'
import { codeOf, messageOf } from '@fairlead/engine'
import { type AptPlace, type Archive, findArchive, readArchitecture } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { makeWorkFolder } from './work-folder.ts'

const debianKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Measured: 88 MB with one package list, 152 MB with all. A build finally has 30 MB. */
const roomMb = 160

/** How to reach Debian's archive. */
export interface DebianRequest {
  /** Destination, so that files can be renamed into place. Made if missing. */
  readonly folder: string
  readonly signal?: AbortSignal | undefined
  /** Trusted keys. Default: Debian's on this machine. */
  readonly keyring?: string
  /** Environment of apt: its PATH, a proxy. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Debian's archive, with a work folder for fetching. Dispose to remove the folder. */
export interface OpenDebian extends AsyncDisposable {
  readonly place: AptPlace
  readonly archive: Archive
}

/** Checks if this machine can fetch from Debian: apt, keys, space, a source. Throws FetchError if not. */
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

/** Turns a disk error, which is no bug of ours, into one line like other failures. */
export function explainDisk(folder: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new FetchError('disk_full', `the disk of ${folder} is full`, { cause })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(code))
    return new FetchError('failed', `cannot write into ${folder}: ${messageOf(cause)}`, { cause })
  return cause
}

/** Checks the space first: on a full disk apt may print any error, even that the archive is not signed. */
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

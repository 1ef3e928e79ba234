import { access, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FoundBuild } from '@fairlead/api'
import { type AptPlace, findArchive, openAptRoot, readArchitecture } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { findOffer } from './find-offer.ts'
import { findPresent, placeBuild } from './place-build.ts'
import { suites } from './suites.ts'
import { unpackBuild } from './unpack-build.ts'
import { makeWorkFolder } from './work-folder.ts'

/** The engines that Debian packages in the way unpackBuild knows. */
const flavours = ['valkey', 'redis', 'redict']
const debianKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Measured: 88 MB with one package list, 152 MB with all of them. A build is 30 MB in the end. */
const roomMb = 160

/** Which build to fetch, and where to. */
export interface FetchWish {
  readonly flavour: string
  /** "8.1", "8.1.1"; absent: the newest that Debian offers in any suite. */
  readonly version?: string | undefined
  /** The folder of builds; made if it is not there. */
  readonly folder: string
  /** Told in a line what is being done now. */
  readonly onProgress?: (line: string) => void
  readonly signal?: AbortSignal | undefined
  /** The keys to trust. Default: Debian's, as this machine has them. */
  readonly keyring?: string
  /** What apt is run with: its PATH, a proxy. Default: what this process was. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/**
 * Fetches a build from Debian's suites with apt, without root, into `<folder>/<flavour>-<version>`. A build in the
 * folder that matches a version asked for is returned at once, without the network.
 *
 * Throws FetchError, or the signal's reason; neither leaves anything behind. May run several times at once.
 */
export async function fetchBuild(wish: FetchWish): Promise<FoundBuild> {
  const folder = resolve(wish.folder)
  try {
    checkWish(wish)
    const { flavour, version, signal } = wish
    const present =
      version === undefined ? undefined : await findPresent({ folder, flavour, version, signal })
    return present ?? (await fetchFromDebian({ ...wish, folder }))
  } catch (cause) {
    throw explainDisk(folder, cause)
  }
}

function checkWish({ flavour, version }: FetchWish): void {
  if (!flavours.includes(flavour))
    throw new FetchError(
      'bad_wish',
      `unknown engine ${JSON.stringify(flavour)}: there are ${flavours.join(', ')}`,
    )
  if (version !== undefined && !/^\d{1,4}(\.\d{1,4}){0,2}$/.test(version))
    throw new FetchError('bad_wish', `not a version: ${JSON.stringify(version)}; write it like 8.1 or 8.1.1`)
}

/**
 * Each fetch has a private apt, lists included, in a work folder that goes in the end. Lists kept for the next fetch
 * would save 5 s of it, and cost 20 MB a suite and a lock between fetches that run at the same time.
 */
async function fetchFromDebian(wish: FetchWish): Promise<FoundBuild> {
  const { flavour, folder, signal, keyring = debianKeyring, env } = wish
  const tell = wish.onProgress ?? (() => undefined)
  const architecture = await readArchitecture({ env, signal })
  await checkKeyring(keyring)
  await using work = await makeWorkFolder(folder)
  await checkRoom(folder)
  const place: AptPlace = { folder: work.path, keyring, env, signal }
  const archive = await findArchive(place, architecture)

  const offer = await findOffer({ place, archive, flavour, version: wish.version, tell })
  const { version } = offer
  const present = await findPresent({ folder, flavour, version, signal })
  if (present) return present

  const base = suites.find(({ name }) => name === offer.suite)?.base ?? offer.suite
  tell(`downloading ${flavour} ${version} from ${offer.suite}`)
  const apt = await openAptRoot(place, archive, [...new Set([offer.suite, base])])
  const debs = join(work.path, 'debs')
  await apt.download(offer, debs)

  tell(`unpacking ${flavour} ${version}`)
  const to = join(work.path, 'build')
  await unpackBuild({ debs, root: join(work.path, 'root'), to, offer, env, signal })
  signal?.throwIfAborted()
  // Awaited here: the work folder goes as soon as this function returns.
  const aside = join(work.path, 'aside')
  return await placeBuild({ folder, flavour, version, made: to, aside, signal })
}

/** What apt says on a full disk is anything: that the archive is not signed, too. So it is not let run into one. */
async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= roomMb * 1_000_000) return
  throw new FetchError(
    'disk_full',
    `fetching a build takes ${roomMb} MB for a while; the disk of ${folder} has ${Math.floor((bavail * bsize) / 1_000_000)} MB free`,
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

/** What the disk refuses is no bug of ours; it becomes a line like the other failures. */
function explainDisk(folder: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new FetchError('disk_full', `the disk of ${folder} is full`, { cause })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(code ?? ''))
    return new FetchError('failed', `cannot write into ${folder}: ${(cause as Error).message}`, { cause })
  return cause
}

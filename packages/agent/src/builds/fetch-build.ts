import { join, resolve } from 'node:path'
import type { FoundBuild } from '@fairlead/api'
import { openAptRoot } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { findOffer } from './find-offer.ts'
import { type DebianWish, explainDisk, openDebian } from './open-debian.ts'
import { findPresent, placeBuild } from './place-build.ts'
import { suites } from './suites.ts'
import { unpackBuild } from './unpack-build.ts'

/** The engines that Debian packages in the way unpackBuild knows. */
const flavours = ['valkey', 'redis', 'redict']

/** Which build to fetch, and where to. */
export interface FetchWish extends DebianWish {
  readonly flavour: string
  /** "8.1", "8.1.1"; absent: the newest that Debian offers in any suite. */
  readonly version?: string | undefined
  /** Told in a line what is being done now. */
  readonly onProgress?: (line: string) => void
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
  const { flavour, folder, signal, env } = wish
  const tell = wish.onProgress ?? (() => undefined)
  await using debian = await openDebian(wish)
  const { place, archive } = debian

  const offer = await findOffer({ place, archive, flavour, version: wish.version, tell })
  const { version } = offer
  const present = await findPresent({ folder, flavour, version, signal })
  if (present) return present

  const base = suites.find(({ name }) => name === offer.suite)?.base ?? offer.suite
  tell(`downloading ${flavour} ${version} from ${offer.suite}`)
  const apt = await openAptRoot(place, archive, [...new Set([offer.suite, base])])
  const debs = join(place.folder, 'debs')
  await apt.download(offer, debs)

  tell(`unpacking ${flavour} ${version}`)
  const to = join(place.folder, 'build')
  await unpackBuild({ debs, root: join(place.folder, 'root'), to, offer, env, signal })
  signal?.throwIfAborted()
  // Awaited here: the work folder goes as soon as this function returns.
  const aside = join(place.folder, 'aside')
  return await placeBuild({ folder, flavour, version, made: to, aside, signal })
}

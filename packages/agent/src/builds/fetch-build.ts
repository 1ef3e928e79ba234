import { join, resolve } from 'node:path'
import { FETCHED_VERSION, type FoundBuild } from '@fairlead/api'
import { knownHoles, runsForeignCode } from '@fairlead/engine'
import { openAptRoot } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import { findOffer } from './find-offer.ts'
import { type DebianRequest, explainDisk, openDebian } from './open-debian.ts'
import { findPresent, placeBuild } from './place-build.ts'
import type { Offer } from './read-offers.ts'
import { suites } from './suites.ts'
import { unpackBuild } from './unpack-build.ts'

/** Engines with Debian packages of the form that unpackBuild knows. */
const flavours = ['valkey', 'redis', 'redict']

/** Build to fetch, and its destination. */
export interface FetchRequest extends DebianRequest {
  readonly flavour: string
  /** "8.1" or "8.1.1"; absent: the newest in a suite of Debian. */
  readonly version?: string | undefined
  /** Also from suites in development. Default: only from released ones. */
  readonly alsoUnstable?: boolean
  /** Called with a line that describes the current step. */
  readonly onProgress?: (line: string) => void
}

/**
 * Fetches a build from Debian's suites with apt, without root, into `<folder>/<flavour>-<version>`. A build
 * in the folder that matches the version is returned without the network; but if it came from Debian and
 * clients can execute code through its vulnerabilities, a later package replaces it. Throws FetchError, or
 * the signal's reason, and leaves no files then; may run several times concurrently.
 */
export async function fetchBuild(request: FetchRequest): Promise<FoundBuild> {
  const folder = resolve(request.folder)
  try {
    checkRequest(request)
    const { flavour, version, signal } = request
    const present =
      version === undefined ? undefined : await findPresent({ folder, flavour, version, signal })
    if (present === undefined) return await fetchFromDebian({ ...request, folder })
    return isUnsound(present) ? await replaceUnsound(present, { ...request, folder }) : present
  } catch (cause) {
    throw explainDisk(folder, cause)
  }
}

function checkRequest({ flavour, version }: FetchRequest): void {
  if (!flavours.includes(flavour))
    throw new FetchError(
      'bad_request',
      `unknown engine ${JSON.stringify(flavour)}: there are ${flavours.join(', ')}`,
    )
  if (version !== undefined && !new RegExp(FETCHED_VERSION).test(version))
    throw new FetchError(
      'bad_request',
      `not a version: ${JSON.stringify(version)}; write it like 8.1 or 8.1.1`,
    )
}

function isUnsound(build: FoundBuild): boolean {
  return build.package !== undefined && knownHoles(build).some(runsForeignCode)
}

/** Keeps the build if no better package can be fetched now. */
async function replaceUnsound(present: FoundBuild, request: FetchRequest): Promise<FoundBuild> {
  const tell = request.onProgress ?? (() => undefined)
  tell(`${present.flavour} ${present.version} is here and has known holes; looking for a later package`)
  try {
    return await fetchFromDebian(request)
  } catch (cause) {
    if (!(cause instanceof FetchError)) throw cause
    tell(`the present one stays: ${cause.message}`)
    return present
  }
}

/** True for another package of the same version with fewer known vulnerabilities. */
function isWorthReplacing(present: FoundBuild, { debianVersion }: Offer): boolean {
  if (present.package === undefined || present.package === debianVersion) return false
  return knownHoles({ ...present, package: debianVersion }).length < knownHoles(present).length
}

/** Returns the offer's suite, and that of its libraries. */
function suitesFor({ suite }: Offer): readonly string[] {
  const found = suites.find(({ name, security }) => [name, security].includes(suite))
  const base = suites.find(({ name }) => name === found?.base)
  return [...new Set([suite, base?.name ?? suite])]
}

/**
 * Each fetch has a private apt with lists, in a work folder that is removed at the end. To keep the lists
 * would save 5 s per fetch, but need 20 MB per suite and a lock between concurrent fetches.
 */
async function fetchFromDebian(request: FetchRequest): Promise<FoundBuild> {
  const { flavour, folder, signal, env, alsoUnstable = false } = request
  const tell = request.onProgress ?? (() => undefined)
  await using debian = await openDebian(request)
  const { place, archive } = debian

  const offer = await findOffer({ place, archive, alsoUnstable, flavour, version: request.version, tell })
  const { version } = offer
  const present = await findPresent({ folder, flavour, version, signal })
  if (present !== undefined && !isWorthReplacing(present, offer)) return present

  tell(`downloading ${flavour} ${version} from ${offer.suite}`)
  const apt = await openAptRoot(place, archive, suitesFor(offer))
  const debs = join(place.folder, 'debs')
  await apt.download(offer, debs)

  tell(`unpacking ${flavour} ${version}`)
  const to = join(place.folder, 'build')
  await unpackBuild({ debs, root: join(place.folder, 'root'), to, offer, env, signal })
  signal?.throwIfAborted()
  // Awaited, because the work folder is removed when this function returns.
  const aside = join(place.folder, 'aside')
  return await placeBuild({
    folder,
    flavour,
    version,
    made: to,
    aside,
    signal,
    replace: present !== undefined,
  })
}

import { compareVersions, matchesVersion } from '@fairlead/engine'
import { type AptPlace, type Archive, openAptRoot } from './apt-root.ts'
import { FetchError } from './fetch-error.ts'
import type { Offer } from './read-offers.ts'
import { orderSuites, type Suite, suites } from './suites.ts'

/**
 * Finds the suite that offers a build. With a version, it asks as few suites as possible, released ones
 * first; without one it asks all and chooses the newest. Throws FetchError, which lists the available
 * versions.
 */
export async function findOffer(options: {
  readonly place: AptPlace
  readonly archive: Archive
  readonly flavour: string
  readonly version?: string | undefined
  readonly alsoUnstable: boolean
  readonly tell: (line: string) => void
}): Promise<Offer> {
  const { place, archive, flavour, version, alsoUnstable, tell } = options
  const offers: Offer[] = []
  const faults: FetchError[] = []
  for (const group of orderSuites(flavour, version, alsoUnstable)) {
    tell(`looking for ${nameOf(flavour, version)} in ${group.map(({ name }) => name).join(', ')}`)
    const answers = await askSuites({ place, archive, flavour, tell }, group)
    for (const answer of answers) {
      if (answer instanceof FetchError) {
        // All suites are in the same archive, so the others would fail in the same way.
        if (answer.fault === 'unreachable' || answer.fault === 'disk_full') throw answer
        faults.push(answer)
        continue
      }
      const match = newest(answer.filter((o) => version !== undefined && matchesVersion(o.version, version)))
      if (match) return match
      offers.push(...answer)
    }
  }
  const best = version === undefined ? newest(offers) : undefined
  if (best) return best
  throw nothingOffered(nameOf(flavour, version), { flavour, alsoUnstable }, offers, faults)
}

interface Asking {
  readonly place: AptPlace
  readonly archive: Archive
  readonly flavour: string
  readonly tell: (line: string) => void
}

/** Returns the offers of each suite, or the error that its list caused. */
async function askSuites(
  asking: Asking,
  group: readonly Suite[],
): Promise<readonly (readonly Offer[] | FetchError)[]> {
  // allSettled, because when one fails, the others still write into a folder that will be removed.
  const answers = await Promise.allSettled(group.map((suite) => askSuite(asking, suite)))
  return answers.map((answer) => {
    if (answer.status === 'fulfilled') return answer.value
    if (answer.reason instanceof FetchError) return answer.reason
    throw answer.reason
  })
}

/**
 * Returns the offers of a suite, those of its security suite first. If the security suite is not in the apt
 * sources or cannot be read, reports that to `tell` and returns the offers without it.
 */
async function askSuite(
  { place, archive, flavour, tell }: Asking,
  { name, security }: Suite,
): Promise<readonly Offer[]> {
  const ask = async (names: readonly string[]) => (await openAptRoot(place, archive, names)).offers(flavour)
  if (security === undefined) return ask([name])
  if (archive.securityUri === null) {
    tell(`the apt sources of this machine name no ${security}: the build may lack fixes`)
    return ask([name])
  }
  try {
    const offers = await ask([name, security])
    return offers.toSorted((a, b) => Number(b.suite === security) - Number(a.suite === security))
  } catch (cause) {
    if (!(cause instanceof FetchError) || !['suite_gone', 'unreachable'].includes(cause.fault)) throw cause
    const offers = await ask([name])
    tell(`${security} cannot be read: the build may lack fixes (${cause.message})`)
    return offers
  }
}

/** Returns the first of the newest: from the suite that was asked first, or from its security suite. */
function newest(offers: readonly Offer[]): Offer | undefined {
  return offers.toSorted((a, b) => compareVersions(b.version, a.version))[0]
}

function nothingOffered(
  wanted: string,
  { flavour, alsoUnstable }: { readonly flavour: string; readonly alsoUnstable: boolean },
  offers: readonly Offer[],
  faults: readonly FetchError[],
): FetchError {
  // Debian has removed this suite, which is no fault of this machine.
  const troubles = faults.filter(({ fault }) => fault !== 'suite_gone')
  const trouble = troubles[0]
  if (trouble && offers.length === 0) return trouble
  const versions = [...new Set(offers.map(({ version }) => version))].toSorted(compareVersions)
  const offered = versions.length === 0 ? 'nothing' : `${flavour} ${versions.join(', ')}`
  const unread = trouble ? `; not all suites could be read: ${trouble.message}` : ''
  const unasked = suites.filter(({ isUnstable }) => isUnstable && !alsoUnstable).map(({ name }) => name)
  const more =
    unasked.length === 0
      ? ''
      : `; ${unasked.join(' and ')} are in development and may have it: they are asked only on request (--unstable)`
  return new FetchError('bad_request', `${wanted} is not offered; Debian offers ${offered}${unread}${more}`)
}

function nameOf(flavour: string, version: string | undefined): string {
  return version === undefined ? flavour : `${flavour} ${version}`
}

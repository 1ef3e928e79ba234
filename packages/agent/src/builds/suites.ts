import { matchesVersion } from '@fairlead/engine'

/** A suite of Debian's archive. */
export interface Suite {
  readonly name: string
  /** Suite whose libraries its programs are built against: itself, or the release that it extends. */
  readonly base: string
  /** In development: programs may change, and break, at any time. Asked only on request. */
  readonly isUnstable?: true
  /** Suite of the security archive with newer packages, which are preferred. */
  readonly security?: string
  /** "flavour version" that it had in November 2026: a hint where to look first; only apt's answer counts. */
  readonly carried: readonly string[]
}

/** Released suites first, newest first: of two suites with a matching build the earlier is chosen. */
export const suites: readonly Suite[] = [
  { name: 'trixie', base: 'trixie', security: 'trixie-security', carried: ['valkey 8.1', 'redis 8.0'] },
  { name: 'bookworm', base: 'bookworm', security: 'bookworm-security', carried: ['redis 7.0'] },
  { name: 'bookworm-backports', base: 'bookworm', carried: ['valkey 8.0', 'redict 7.3'] },
  { name: 'trixie-backports', base: 'trixie', carried: ['redict 7.3'] },
  { name: 'bullseye', base: 'bullseye', security: 'bullseye-security', carried: ['redis 6.0'] },
  { name: 'sid', base: 'sid', isUnstable: true, carried: ['valkey 9.1', 'redis 8.0', 'redict 7.3'] },
  { name: 'experimental', base: 'sid', isUnstable: true, carried: ['redis 8.6'] },
]

/** Suites asked at the same time. A package list is a download of 9 MB, and reading takes 1 s of one core. */
const askedAtOnce = 3

/**
 * Returns the order of suites to ask for a build: first each that had a matching version, then groups of the
 * others. Without a version all must be asked, to find the newest. Only `alsoUnstable` has those in
 * development.
 */
export function orderSuites(
  flavour: string,
  version: string | undefined,
  alsoUnstable: boolean,
): readonly (readonly Suite[])[] {
  const possible = suites.filter(({ isUnstable }) => alsoUnstable || isUnstable !== true)
  const promising = possible.filter((suite) =>
    suite.carried.some((carried) => version !== undefined && isHint(carried, flavour, version)),
  )
  const others = possible.filter((suite) => !promising.includes(suite))
  const groups = others
    .map((_, n) => (n % askedAtOnce === 0 ? others.slice(n, n + askedAtOnce) : []))
    .filter((group) => group.length > 0)
  return [...promising.map((suite) => [suite]), ...groups]
}

/** "valkey 8.1" is a hint for 8, 8.1 and 8.1.1. */
function isHint(carried: string, flavour: string, version: string): boolean {
  const [carriedFlavour, carriedVersion = ''] = carried.split(' ')
  return (
    carriedFlavour === flavour &&
    (matchesVersion(carriedVersion, version) || matchesVersion(version, carriedVersion))
  )
}

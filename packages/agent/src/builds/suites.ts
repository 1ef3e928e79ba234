import { matchesVersion } from '@fairlead/engine'

/** One suite of Debian's archive. */
export interface Suite {
  readonly name: string
  /** The suite whose libraries its programs are built against: its own, or that of the release it adds to. */
  readonly base: string
  /** The suite of the security archive beside it, whose packages are preferred. */
  readonly security?: string
  /** "flavour version" it carried in November 2026. A hint where to look first; only apt is believed. */
  readonly carried: readonly string[]
}

/** Released suites first, newest first: of two suites with a matching build the earlier one is taken. */
export const suites: readonly Suite[] = [
  { name: 'trixie', base: 'trixie', security: 'trixie-security', carried: ['valkey 8.1', 'redis 8.0'] },
  { name: 'bookworm', base: 'bookworm', security: 'bookworm-security', carried: ['redis 7.0'] },
  { name: 'bookworm-backports', base: 'bookworm', carried: ['valkey 8.0', 'redict 7.3'] },
  { name: 'trixie-backports', base: 'trixie', carried: ['redict 7.3'] },
  { name: 'bullseye', base: 'bullseye', security: 'bullseye-security', carried: ['redis 6.0'] },
  { name: 'sid', base: 'sid', carried: ['valkey 9.1', 'redis 8.0', 'redict 7.3'] },
  { name: 'experimental', base: 'sid', carried: ['redis 8.6'] },
]

/** Suites asked at the same time. A package list is 9 MB to fetch and a second of one core to read. */
const askedAtOnce = 3

/**
 * In which order to ask the suites for a build: first, one by one, those that carried a matching version, then the
 * others in groups. Without a version all have to be asked, to know which is the newest.
 */
export function orderSuites(flavour: string, version: string | undefined): readonly (readonly Suite[])[] {
  const promising = suites.filter((suite) =>
    suite.carried.some((carried) => version !== undefined && isHint(carried, flavour, version)),
  )
  const others = suites.filter((suite) => !promising.includes(suite))
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

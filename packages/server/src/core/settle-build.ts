import type { Build } from '@fairlead/api'
import { compareVersions, matchesVersion } from '@fairlead/engine'
import type { Refused } from './refused.ts'

/**
 * The build that a wish names: "8.1.1", "8.1" (the newest of it), "valkey-8.1"; absent: the newest of the flavour.
 *
 * Without a flavour in the wish it is `flavour`; where that is null (creation), valkey if there is any, else what
 * there is. Refused with the list of what the catalogue has.
 */
export function settleBuild(
  wish: string | undefined,
  flavour: string | null,
  catalogue: readonly Build[],
): { readonly build: Build } | Refused {
  const [, named, version] = /^(?:([a-z]+)-)?(.+)$/.exec(wish ?? '') ?? []
  const ofFlavour = named ?? flavour ?? defaultFlavour(catalogue, version)
  const matching = catalogue
    .filter(
      (build) =>
        build.flavour === ofFlavour && (version === undefined || matchesVersion(build.version, version)),
    )
    .toSorted((a, b) => compareVersions(b.version, a.version))
  const [newest] = matching
  if (newest !== undefined) return { build: { flavour: newest.flavour, version: newest.version } }

  const asked = version === undefined ? `${ofFlavour} in any version` : `${ofFlavour} ${version}`
  return {
    refused: 'invalid_version',
    message: `engine_version: there is no build of ${asked} here. There is: ${listBuilds(catalogue)}`,
  }
}

/** Valkey, unless only another flavour has the version asked for. */
function defaultFlavour(catalogue: readonly Build[], version: string | undefined): string {
  const fitting = catalogue.filter((build) => version === undefined || matchesVersion(build.version, version))
  return fitting.find((build) => build.flavour === 'valkey')?.flavour ?? fitting[0]?.flavour ?? 'valkey'
}

export function listBuilds(catalogue: readonly Build[]): string {
  if (catalogue.length === 0) return 'nothing yet (try: fairlead engines fetch valkey 8.1)'
  return catalogue.map(({ flavour, version }) => `${flavour} ${version}`).join(', ')
}

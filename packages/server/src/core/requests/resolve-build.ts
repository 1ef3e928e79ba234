import type { Build } from '@fairlead/api'
import { compareVersions, type KnownHole, matchesVersion } from '@fairlead/engine'
import type { Refused } from '../state/refused.ts'

/** A build of the catalogue. */
export interface OfferedBuild extends Build {
  /** Holes through which clients run code, if the cluster refuses such builds. Absent: none. */
  readonly refusedFor?: readonly string[]
  /** All known holes, including those without a refusal. Absent: none. */
  readonly holes?: readonly KnownHole[]
}

/**
 * Returns the build that a request names: "8.1.1", "8.1" (its newest), "valkey-8.1"; absent: the newest of
 * the flavour. A refusal lists the catalogue. Without a flavour in the request:
 * 1. `flavour`, unless null (creation);
 * 2. `preferred`, if it has a fitting build without holes;
 * 3. Valkey, if there is any fitting build; otherwise the flavour that exists.
 * 4. Of several builds, the newest of those whose holes allow the least harm.
 */
export function resolveBuild(
  requested: string | undefined,
  flavour: string | null,
  catalogue: readonly OfferedBuild[],
  preferred?: string,
): { readonly build: Build } | Refused {
  const [, named, version] = /^(?:([a-z]+)-)?(.+)$/.exec(requested ?? '') ?? []
  const ofFlavour = named ?? flavour ?? defaultFlavour(catalogue, version, preferred)
  const matching = catalogue
    .filter(
      (build) =>
        build.flavour === ofFlavour && (version === undefined || matchesVersion(build.version, version)),
    )
    .toSorted(leastHarmFirst)
  const newest = matching[0]
  if (newest !== undefined) return { build: { flavour: newest.flavour, version: newest.version } }

  const asked = version === undefined ? `${ofFlavour} in any version` : `${ofFlavour} ${version}`
  return {
    refused: 'invalid_version',
    field: 'engine_version',
    message: `engine_version: there is no build of ${asked} here. There is: ${listBuilds(catalogue)}`,
  }
}

/** A lesser hole is no reason against the newest build. */
const harms = { other: 0, crash: 1, code: 2 } as const satisfies Record<KnownHole['reach'], number>

/** Compares builds of a flavour: least harm through known holes first, then the newest. */
export function leastHarmFirst(a: OfferedBuild, b: OfferedBuild): number {
  return harmOf(a) - harmOf(b) || compareVersions(b.version, a.version)
}

/** Returns the worst harm through the known holes of a build; 0: none that matters. */
export function harmOf({ refusedFor = [], holes = [] }: OfferedBuild): number {
  return Math.max(0, refusedFor.length > 0 ? harms.code : 0, ...holes.map(({ reach }) => harms[reach]))
}

/** Valkey, unless only another flavour has the version, or the preferred one has a sound build of it. */
function defaultFlavour(
  catalogue: readonly OfferedBuild[],
  version: string | undefined,
  preferred: string | undefined,
): string {
  const fitting = catalogue.filter((build) => version === undefined || matchesVersion(build.version, version))
  const isSound = ({ flavour, refusedFor = [] }: OfferedBuild) =>
    flavour === preferred && refusedFor.length === 0
  if (preferred !== undefined && fitting.some(isSound)) return preferred
  return fitting.find((build) => build.flavour === 'valkey')?.flavour ?? fitting[0]?.flavour ?? 'valkey'
}

/** Refuses a build with holes that the present build `before` lacks. Names the builds without holes. */
export function resolveHoles(
  target: Build,
  before: Build | undefined,
  catalogue: readonly OfferedBuild[],
): Refused | undefined {
  const holesOf = (build: Build | undefined) =>
    catalogue.find((one) => one.flavour === build?.flavour && one.version === build.version)?.refusedFor ?? []
  const had = holesOf(before)
  const holes = holesOf(target).filter((id) => !had.includes(id))
  if (holes.length === 0) return undefined
  const sound = catalogue.filter(({ refusedFor = [] }) => refusedFor.length === 0)
  const { flavour, version } = target
  const others = sound.length === 0 ? 'every build here has such holes' : `sound here: ${listBuilds(sound)}`
  return {
    refused: 'insecure_version',
    field: 'engine_version',
    message: `engine_version: through known holes of ${flavour} ${version} (${holes.join(', ')}) clients can run code in the engine; ${others}. fairlead engines fetch ${flavour} brings the newest; unsound_engines_allowed of PUT /v1/cluster allows it`,
  }
}

/** Lists builds for people. */
export function listBuilds(catalogue: readonly Build[]): string {
  if (catalogue.length === 0) return 'nothing yet (try: fairlead engines fetch valkey 8.1)'
  return catalogue.map(({ flavour, version }) => `${flavour} ${version}`).join(', ')
}

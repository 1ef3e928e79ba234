import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { plainPolicy, type UsedModule } from '../state/goal.ts'
import type { Refused } from '../state/refused.ts'
import { replicationPath } from '../state/replication-paths.ts'
import { harmOf, type OfferedBuild } from './resolve-build.ts'
import {
  type Catalogue,
  isSame,
  resolveUpgrade,
  type UpgradeRequest,
  type UpgradeSubject,
} from './resolve-upgrade.ts'

/** A build as the target of an upgrade of one database. */
export interface UpgradeTarget {
  readonly build: Build
  readonly isCurrent: boolean
  /** True for the newest of its flavour. */
  readonly isNewest: boolean
  readonly isRecommended: boolean
  /** Obstacles with the present modules; empty if none. */
  readonly obstacles: readonly Refused[]
  /** The same with the newest allowed modules, and these (none if impossible). Undefined without modules. */
  readonly withNewest:
    | { readonly obstacles: readonly Refused[]; readonly modules: readonly UsedModule[] }
    | undefined
}

/**
 * Returns every build of the catalogue as a target: the database's flavour first, newest first in each
 * flavour. `busy`: why no upgrade can begin now.
 */
export function upgradeTargets(
  subject: UpgradeSubject,
  catalogue: Catalogue,
  busy: Refused | undefined,
): readonly UpgradeTarget[] {
  const recommended = upgradableTo(subject, catalogue) ?? subject.build
  const builds = inOrder(catalogue.builds, subject.build.flavour)
  const judge = (build: Build, entries: UpgradeRequest['modules']) => {
    const resolved = resolveUpgrade(requestFor(build, entries), subject, catalogue)
    const found = 'refused' in resolved ? (resolved.obstacles ?? [resolved]) : []
    const obstacles = busy === undefined ? found : [busy, ...found]
    return { obstacles, modules: 'refused' in resolved ? [] : resolved.goal.modules }
  }
  return builds.map((build) => ({
    build,
    isCurrent: isSame(build, subject.build),
    isNewest: builds.find(({ flavour }) => flavour === build.flavour) === build,
    isRecommended: isSame(build, recommended),
    obstacles: judge(build, []).obstacles,
    withNewest: subject.modules.length === 0 ? undefined : judge(build, newestOf(subject.modules)),
  }))
}

/**
 * Returns the build that users are advised to go to, with the present modules: of the possible targets of all
 * flavours, the one with the least harm through known holes, then of its own flavour, then the newest.
 * Undefined if none is better than the present build. Ignores temporary obstacles (room, another action) and
 * other flavours whose replication has not been measured.
 */
export function upgradableTo(subject: UpgradeSubject, catalogue: Catalogue): Build | undefined {
  const withRoom = { ...subject, lackOfMemory: undefined, lackOfPorts: undefined }
  const { build: present } = subject
  const isOwn = ({ flavour }: Build) => flavour === present.flavour
  const isOpen = (build: Build) =>
    (isOwn(build) || replicationPath(present, build).measured) &&
    'goal' in resolveUpgrade(requestFor(build, []), withRoom, catalogue)
  const byAdvice = (a: OfferedBuild, b: OfferedBuild) =>
    harmOf(a) - harmOf(b) || Number(isOwn(b)) - Number(isOwn(a)) || compareVersions(b.version, a.version)
  const [best] = catalogue.builds
    .filter((build) => !isSame(build, present) && isOpen(build))
    .toSorted(byAdvice)
  const harm = harmOf(catalogue.builds.find((build) => isSame(build, present)) ?? present)
  if (best === undefined || harmOf(best) > harm) return undefined
  const isBetter = harmOf(best) < harm || compareVersions(best.version, present.version) > 0
  return isBetter ? { flavour: best.flavour, version: best.version } : undefined
}

/** Creates the request of a user that names only the build, and modules. */
function requestFor(build: Build | undefined, modules: UpgradeRequest['modules']): UpgradeRequest {
  return {
    forceRestart: false,
    keepEngineVersion: false,
    latestWithModules: false,
    preserveRoles: false,
    swapRoles: false,
    mayDiscard: false,
    forceDiscard: false,
    engineVersion: build && `${build.flavour}-${build.version}`,
    policy: plainPolicy,
    modules,
  }
}

function newestOf(modules: readonly UsedModule[]): UpgradeRequest['modules'] {
  const nothing = { currentModule: undefined, currentVersion: undefined, newModule: undefined }
  return modules.map(({ name: moduleName }, n) => {
    return { place: `modules[${n}]`, moduleName, ...nothing, newArgs: undefined }
  })
}

/** Removes duplicates: a node may find a build in several places. */
function inOrder(builds: readonly Build[], first: string): readonly Build[] {
  return builds
    .filter((build, n) => builds.findIndex((other) => isSame(build, other)) === n)
    .map(({ flavour, version }) => ({ flavour, version }))
    .toSorted(
      (a, b) =>
        Number(b.flavour === first) - Number(a.flavour === first) ||
        a.flavour.localeCompare(b.flavour, 'en') ||
        compareVersions(b.version, a.version),
    )
}

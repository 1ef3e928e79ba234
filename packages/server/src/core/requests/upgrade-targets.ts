import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { plainPolicy, type UsedModule } from '../state/goal.ts'
import type { Refused } from '../state/refused.ts'
import {
  type Catalogue,
  isSame,
  resolveUpgrade,
  type UpgradeRequest,
  type UpgradeSubject,
} from './resolve-upgrade.ts'

/** A build of the cluster as the target of an upgrade of one database. */
export interface UpgradeTarget {
  readonly build: Build
  readonly isCurrent: boolean
  /** Of its flavour. */
  readonly isNewest: boolean
  readonly isRecommended: boolean
  /** What is in the way of it, with the modules as they are; empty: nothing. */
  readonly obstacles: readonly Refused[]
  /** The same with the newest modules that it allows, and these modules, or none where it is not possible. Undefined: the database has no modules. */
  readonly withNewest:
    | { readonly obstacles: readonly Refused[]; readonly modules: readonly UsedModule[] }
    | undefined
}

/**
 * Every build of the catalogue as a target: those of the database's flavour first, of each flavour the newest first. `busy`: why no upgrade at
 * all can begin now.
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
 * The build that an upgrade goes to which names none, with the modules as they are; undefined: it runs the newest that it can. What is in the way only now (the room on the
 * node, another action) does not count.
 */
export function upgradableTo(subject: UpgradeSubject, catalogue: Catalogue): Build | undefined {
  const withRoom = { ...subject, lackOfMemory: undefined, lackOfPorts: undefined }
  const resolved = resolveUpgrade(requestFor(undefined, []), withRoom, catalogue)
  return 'refused' in resolved || !resolved.change ? undefined : resolved.goal.build
}

/** As a user sends it who names nothing else than the build, and modules. */
function requestFor(build: Build | undefined, modules: UpgradeRequest['modules']): UpgradeRequest {
  return {
    ...{ forceRestart: false, keepEngineVersion: false, latestWithModules: false },
    ...{ preserveRoles: false, swapRoles: false, mayDiscard: false, forceDiscard: false },
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

/** Each once, though a node may find a build in several places. */
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

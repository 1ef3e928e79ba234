import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import type { Goal } from './goal.ts'
import type { Refused } from './refused.ts'
import { obstacleToReplication } from './replication-paths.ts'
import { settleBuild } from './settle-build.ts'

/** An upgrade as it was asked for, after the vendor's spellings were folded into ours. */
export interface UpgradeRequest {
  readonly forceRestart: boolean
  readonly keepEngineVersion: boolean
  /** The newest engine and the newest modules: without modules, what an absent version means too. */
  readonly latestWithModules: boolean
  readonly preserveRoles: boolean
  readonly swapRoles: boolean
  readonly engineVersion: string | undefined
  /** Fields that are understood and not available yet, with the value that asks for something. */
  readonly notYet: readonly string[]
}

/** What the rules need to know of the database. */
export interface UpgradeSubject {
  readonly build: Build
  readonly restartNonce: number
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly primary: number
}

/**
 * Turns a request into a closed goal, or refuses. `change` is false when nothing would change.
 *
 * Every obstacle is found, not just the first: the code is the first one's, the message names them all.
 */
export function settleUpgrade(
  request: UpgradeRequest,
  subject: UpgradeSubject,
  catalogue: readonly Build[],
): { readonly goal: Goal; readonly change: boolean } | Refused {
  const target = settleTarget(request, subject, catalogue)
  const obstacles = [
    ...notAvailable(request),
    ...contradictions(request),
    ...('refused' in target ? [target] : obstaclesTo(target.build, subject)),
  ]
  const [first] = obstacles
  if (first !== undefined)
    return { refused: first.refused, message: obstacles.map(({ message }) => message).join('; ') }
  if ('refused' in target) return target

  const sameBuild =
    target.build.flavour === subject.build.flavour && target.build.version === subject.build.version
  return {
    change: !sameBuild || request.forceRestart,
    goal: {
      kind: 'keep',
      build: target.build,
      restartNonce: subject.restartNonce + (request.forceRestart ? 1 : 0),
      replicas: subject.replicas,
      persistence: subject.persistence,
      home: subject.primary,
      preserveRoles: request.preserveRoles,
      undo: false,
    },
  }
}

function settleTarget(
  { keepEngineVersion, engineVersion }: UpgradeRequest,
  { build }: UpgradeSubject,
  catalogue: readonly Build[],
) {
  if (keepEngineVersion) return keepTarget(build, engineVersion)
  return settleBuild(engineVersion, build.flavour, catalogue)
}

/** Keeping the version and naming it too is no contradiction, as long as it is the same one. */
function keepTarget(build: Build, engineVersion: string | undefined): { readonly build: Build } | Refused {
  if (engineVersion === undefined || !('refused' in settleBuild(engineVersion, build.flavour, [build])))
    return { build }
  return {
    refused: 'conflicting_fields',
    message: `keep_engine_version asks for ${build.flavour} ${build.version} and engine_version for ${engineVersion}: send one of them`,
  }
}

function notAvailable({ notYet }: UpgradeRequest): Refused[] {
  return notYet.map((field) => ({
    refused: 'field_not_available',
    message: `${field} is not available yet; leave it out`,
  }))
}

function contradictions(request: UpgradeRequest): Refused[] {
  const pairs: readonly (readonly [boolean, string])[] = [
    [request.preserveRoles && request.swapRoles, 'preserve_roles and swap_roles'],
    [request.latestWithModules && request.keepEngineVersion, 'latest_with_modules and keep_engine_version'],
    [
      request.latestWithModules && request.engineVersion !== undefined,
      'latest_with_modules and engine_version',
    ],
  ]
  return pairs
    .filter(([both]) => both)
    .map(([, fields]) => ({
      refused: 'conflicting_fields',
      message: `${fields} contradict each other: send one of them`,
    }))
}

function obstaclesTo(target: Build, { build }: UpgradeSubject): Refused[] {
  if (target.flavour === build.flavour && compareVersions(target.version, build.version) < 0) {
    return [
      {
        refused: 'engine_downgrade_unsupported',
        message: `engine_version: ${target.flavour} ${target.version} is older than the ${build.version} that the database runs`,
      },
    ]
  }
  const obstacle = obstacleToReplication(build, target)
  return obstacle === null ? [] : [{ refused: 'upgrade_path_unsupported', message: obstacle }]
}

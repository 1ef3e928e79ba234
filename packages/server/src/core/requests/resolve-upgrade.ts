import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import type { Module } from '../modules/module.ts'
import { type Goal, type Policy, type Runs, revisionOf, runsOf, type UsedModule } from '../state/goal.ts'
import { type Refused, refusedForAll } from '../state/refused.ts'
import { readsFilesOf, replicationPath } from '../state/replication-paths.ts'
import { losesStandby } from '../state/way-back.ts'
import { type OfferedBuild, resolveBuild, resolveHoles } from './resolve-build.ts'
import { type ModuleEntry, type ResolvedModules, resolveModules } from './resolve-modules.ts'

/** Request for an upgrade, with the vendor's field names mapped to Fairlead's. */
export interface UpgradeRequest {
  readonly forceRestart: boolean
  readonly keepEngineVersion: boolean
  /** The newest engine that the modules allow, and the newest modules that the engine allows. */
  readonly latestWithModules: boolean
  readonly preserveRoles: boolean
  readonly swapRoles: boolean
  readonly engineVersion: string | undefined
  /** Data may be discarded if the database is neither replicated nor persistent. */
  readonly mayDiscard: boolean
  /** Data of any database may be discarded. */
  readonly forceDiscard: boolean
  readonly policy: Policy
  readonly modules: readonly ModuleEntry[]
  /** The user's request without secrets, for the action's record. No rule reads it. */
  readonly written?: Readonly<Record<string, unknown>>
}

/** Builds on the nodes, and the catalogue of modules. */
export interface Catalogue {
  readonly builds: readonly OfferedBuild[]
  readonly modules: readonly Module[]
}

/** Facts about the database that the rules need. */
export interface UpgradeSubject {
  readonly build: Build
  readonly restartNonce: number
  readonly modules: readonly UsedModule[]
  readonly groups: number
  readonly cluster: boolean
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly evictionPolicy: string
  readonly primaries: readonly number[]
  /** Lack of memory for an additional shard; undefined if there is enough, or that is unknown. */
  readonly lackOfMemory: string | undefined
  /** Lack of ports for an additional shard in each group; undefined if there are enough. */
  readonly lackOfPorts: string | undefined
}

/** `passedOver`: a sentence for each newer version of a module that does not fit. */
export interface ResolvedUpgrade {
  readonly goal: Goal
  readonly change: boolean
  readonly passedOver: readonly string[]
}

/**
 * Turns a request into a closed goal, or refuses it. `change` is false if nothing would change. Finds every
 * obstacle: the code is the first one's, the message names all.
 */
export function resolveUpgrade(
  request: UpgradeRequest,
  subject: UpgradeSubject,
  catalogue: Catalogue,
): ResolvedUpgrade | Refused {
  const target = resolveTarget(request, subject, catalogue)
  const discard = mayDiscard(request, subject)
  const build = 'refused' in target ? subject.build : target.build
  const resolved = resolveTargetModules(request, subject, build, catalogue)
  const stays =
    !request.forceRestart &&
    'modules' in resolved &&
    revisionOf({ ...subject, build, ...resolved }) === revisionOf(subject)
  // What changes nothing needs no room.
  const inRoom = stays ? { ...subject, lackOfMemory: undefined } : subject
  const obstacles = [
    ...contradictions(request),
    ...('obstacles' in resolved ? resolved.obstacles : []),
    ...('refused' in target
      ? [target]
      : [...obstaclesTo(target.build, inRoom, discard), ...holesIn(target.build, subject, catalogue)]),
  ]
  const refused = refusedForAll(obstacles)
  if (refused !== undefined) return refused
  if ('refused' in target || 'obstacles' in resolved) throw new Error('a refusal without an obstacle')

  const from = runsOf(subject)
  const runs = {
    build: target.build,
    restartNonce: from.restartNonce + (request.forceRestart ? 1 : 0),
    modules: resolved.modules,
  }
  const change = revisionOf(runs) !== revisionOf(from)
  // A shard that is upgraded in place, or begins empty, needs no additional port.
  if (change && !discard && subject.lackOfMemory === undefined && subject.lackOfPorts !== undefined)
    return {
      refused: 'insufficient_resources',
      message: `${subject.lackOfPorts}: each group is upgraded through a further shard`,
    }
  const { passedOver } = resolved
  return { change, goal: goalOf(runs, { request, subject, from, discard }), passedOver }
}

/** Returns the complete goal: the request, and the unchanged parts of the database. */
function goalOf(
  runs: Runs,
  asked: {
    readonly request: UpgradeRequest
    readonly subject: UpgradeSubject
    readonly from: Runs
    readonly discard: boolean
  },
): Goal {
  const { request, subject, from, discard } = asked
  const { groups, cluster, replicas, persistence, primaries } = subject
  return {
    kind: 'keep',
    ...runs,
    from,
    groups,
    cluster,
    replicas,
    persistence,
    homes: primaries,
    preserveRoles: request.preserveRoles,
    undo: false,
    discard,
    inPlace: replicas === 0 && persistence !== 'disabled',
    policy: request.policy,
  }
}

/** A database may keep its build, and change to any build that adds no known holes. */
function holesIn(target: Build, subject: UpgradeSubject, { builds }: Catalogue): readonly Refused[] {
  const insecure = resolveHoles(target, subject.build, builds)
  return insecure === undefined ? [] : [insecure]
}

/** The first flag applies only to a database that is neither replicated nor persistent. */
function mayDiscard({ mayDiscard, forceDiscard }: UpgradeRequest, subject: UpgradeSubject): boolean {
  return forceDiscard || (mayDiscard && isFleeting(subject))
}

function isFleeting({ replicas, persistence }: UpgradeSubject): boolean {
  return replicas === 0 && persistence === 'disabled'
}

function resolveTarget(request: UpgradeRequest, subject: UpgradeSubject, catalogue: Catalogue) {
  const { keepEngineVersion, engineVersion } = request
  const { build } = subject
  if (keepEngineVersion) return keepTarget(build, engineVersion)
  const notOlder = catalogue.builds.filter(
    (one) => one.flavour !== build.flavour || compareVersions(one.version, build.version) >= 0,
  )
  const others = notOlder.filter(
    (one) => !isSame(one, build) && resolveHoles(one, build, catalogue.builds) === undefined,
  )
  const fits = (one: Build) => 'modules' in resolveTargetModules(request, subject, one, catalogue)
  const withRoom = { ...subject, lackOfMemory: undefined }
  const open = others.filter(
    (one) => fits(one) && obstaclesTo(one, withRoom, mayDiscard(request, subject)).length === 0,
  )
  if (engineVersion !== undefined) {
    // Its present build is no target while another fits, and an older sound build never is: that is refused
    // as a downgrade.
    const found = [open, others, notOlder].map((builds) => resolveBuild(engineVersion, build.flavour, builds))
    return found.find((one) => 'build' in one) ?? resolveBuild(engineVersion, build.flavour, catalogue.builds)
  }
  if (open.some(isOf(build))) return resolveBuild(undefined, build.flavour, open)
  // If no other build is open, it stays on its build.
  if (catalogue.builds.some((one) => isSame(one, build)) && fits(build)) return { build }
  const allowed = notOlder.filter(fits)
  // If the modules allow no build, their obstacles are reported for the newest one.
  return resolveBuild(undefined, build.flavour, allowed.some(isOf(build)) ? allowed : notOlder)
}

/** True for the same flavour and version. */
export function isSame(a: Build, b: Build): boolean {
  return a.flavour === b.flavour && a.version === b.version
}

function isOf({ flavour }: Build): (build: Build) => boolean {
  return (build) => build.flavour === flavour
}

function resolveTargetModules(
  { modules, latestWithModules }: UpgradeRequest,
  subject: UpgradeSubject,
  build: Build,
  catalogue: Catalogue,
): ResolvedModules {
  const scene = { build, traits: subject, catalogue: catalogue.modules }
  return resolveModules(subject.modules, modules, latestWithModules, scene)
}

/** Naming the present version together with keep_engine_version is no contradiction. */
function keepTarget(build: Build, engineVersion: string | undefined): { readonly build: Build } | Refused {
  if (engineVersion === undefined || !('refused' in resolveBuild(engineVersion, build.flavour, [build])))
    return { build }
  return {
    refused: 'conflicting_fields',
    field: 'engine_version',
    message: `keep_engine_version asks for ${build.flavour} ${build.version} and engine_version for ${engineVersion}: send one of them`,
  }
}

function contradictions(request: UpgradeRequest): Refused[] {
  const { preserveRoles, latestWithModules } = request
  const pairs: readonly (readonly [boolean, string, string])[] = [
    [preserveRoles && request.swapRoles, 'preserve_roles', 'swap_roles'],
    [preserveRoles && request.forceDiscard, 'preserve_roles', 'force_discard'],
    [latestWithModules && request.keepEngineVersion, 'latest_with_modules', 'keep_engine_version'],
    [latestWithModules && request.engineVersion !== undefined, 'latest_with_modules', 'engine_version'],
  ]
  return pairs
    .filter(([both]) => both)
    .map(([, field, other]) => ({
      refused: 'conflicting_fields',
      field,
      message: `${field} and ${other} contradict each other: send one of them`,
    }))
}

function obstaclesTo(target: Build, subject: UpgradeSubject, discard: boolean): Refused[] {
  const { build } = subject
  const obstacles: Refused[] = []
  if (target.flavour === build.flavour && compareVersions(target.version, build.version) < 0) {
    obstacles.push({
      refused: 'engine_downgrade_unsupported',
      field: 'engine_version',
      message: `engine_version: ${target.flavour} ${target.version} is older than the ${build.version} that the database runs`,
    })
  }
  // Even an upgrade that begins empty goes group by group, so both builds are in the cluster.
  const mix = subject.cluster ? obstacleInOneCluster(build, target) : undefined
  if (mix !== undefined)
    obstacles.push({ refused: 'upgrade_path_unsupported', field: 'engine_version', message: mix })
  if (discard) return obstacles
  // The rules of modules refuse older modules; this refuses older engines.
  const path = replicationPath(build, target).obstacle
  if (path !== undefined) {
    obstacles.push({
      refused: 'upgrade_path_unsupported',
      field: 'engine_version',
      message: `${path}; only force_discard could go there: it deletes all data`,
    })
  }
  if (isFleeting(subject) && subject.lackOfMemory !== undefined) {
    obstacles.push({
      refused: 'upgrade_would_discard_data',
      message: `${subject.lackOfMemory}, and the database is neither replicated nor persistent: only may_discard_data could upgrade it, and it would start empty`,
    })
  } else if (subject.lackOfMemory !== undefined && !readsFilesOf(build, target)) {
    obstacles.push({
      refused: 'insufficient_resources',
      message: `${subject.lackOfMemory}, and ${target.flavour} ${target.version} does not read the files of ${build.flavour} ${build.version}: no shard could be upgraded in place`,
    })
  } else if (subject.lackOfMemory !== undefined && subject.replicas > 0 && losesStandby(build, target)) {
    obstacles.push({
      refused: 'insufficient_resources',
      message: `${subject.lackOfMemory}, and ${build.flavour} ${build.version} does not execute every command that ${target.flavour} ${target.version} sends: an old shard could not be the standby of one that is upgraded in place`,
    })
  }
  return obstacles
}

/**
 * Returns why shards of these builds cannot be in one cluster, or undefined. (An upgrade of a sharded
 * database has both for a while.) On the bus Redis since 8.0 sends its cluster's secret as ping extension 4,
 * which Valkey since 8.0 reads as the address for clients: MOVED and CLUSTER NODES then name that secret, and
 * the memory behind it, as the host. Measured with all pairs of Redis 6.0, 7.0, 8.0 and Valkey 8.0, 8.1, 9.1:
 * `reconcile/loop/cluster-pairs.test.ts`.
 */
export function obstacleInOneCluster(a: Build, b: Build): string | undefined {
  const [one, other] = [a, b].map(describe)
  const isMix = (isSecretive(a) && takesForAddress(b)) || (isSecretive(b) && takesForAddress(a))
  return isMix
    ? `shards of ${one} and ${other} cannot be in one cluster: valkey takes what redis 8 tells of itself for an address, and sends clients there`
    : undefined
}

function isSecretive({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '8.0') >= 0
}

function takesForAddress({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '8.0') >= 0
}

function describe({ flavour, version }: Build): string {
  return `${flavour} ${version}`
}

import type { Build, Seed } from '@fairlead/api'

/** The complete wanted state of a database. Made once from the request, which is not read again. */
export interface Goal {
  /** `remove`: all shards should go. */
  readonly kind: 'keep' | 'remove'
  readonly build: Build
  /** Raised by a forced restart, which makes "restart everything" another revision. */
  readonly restartNonce: number
  /** Sorted by name. */
  readonly modules: readonly UsedModule[]
  /** Runs of the shards when the goal was accepted: an undo restores them. Null during creation. */
  readonly from: Runs | null
  /** Number of groups, each with a range of slots and a primary. 1 without sharding. */
  readonly groups: number
  /** The engines' cluster mode. */
  readonly cluster: boolean
  /** Replicas of each group, without its primary. */
  readonly replicas: number
  readonly persistence: 'disabled' | 'aof' | 'snapshot'
  /** Of a change of settings: all of them after it, and before. Absent: no such change. */
  readonly change?: { readonly to: ChangeableSettings; readonly from: ChangeableSettings }
  /** Primaries when the goal was accepted; none during creation. */
  readonly homes: readonly number[]
  /** True if the original primaries get their role back at the end. */
  readonly preserveRoles: boolean
  /** True if the goal undoes an upgrade: files of the other revision may be unreadable. */
  readonly undo: boolean
  /** True if data are discarded on request: shards of another revision are replaced by empty ones. */
  readonly discard: boolean
  /** True if a primary without replicas may restart in place and load its data from disk, without service. */
  readonly inPlace: boolean
  readonly policy: Policy
  /** Of a creation: the data with which the first shard of each group begins. Absent: none. */
  readonly seeds?: readonly Seed[]
}

/** Settings of a database that change while it serves. Memory: bytes of all groups; 0 is unlimited. */
export interface ChangeableSettings extends Pick<Goal, 'replicas' | 'persistence'> {
  readonly memoryBytes: number
  readonly evictionPolicy: string
  readonly aofFsync: 'everysec' | 'always'
  readonly snapshots: readonly { readonly secs: number; readonly writes: number }[]
}

/** Policy of an upgrade. */
export interface Policy {
  /** Shards started, synced or restarted at the same time, over all groups; 0: the number of groups. */
  readonly parallel: number
  /** The other groups begin after the first one has handed over. */
  readonly canary: boolean
  /** Stop before the first handover, until a person resumes it. */
  readonly supervised: boolean
  /** For how long old primaries stay as standbys after the last handover: seconds, or until finalized. */
  readonly rollbackWindow: number | 'until-finalized'
}

/** Policy of an upgrade without one in its request. */
export const plainPolicy: Policy = { parallel: 0, canary: true, supervised: false, rollbackWindow: 0 }

/** All that only a new shard process can change. */
export interface Runs {
  readonly build: Build
  readonly restartNonce: number
  /** Sorted by name. */
  readonly modules: readonly UsedModule[]
}

/** A catalogue module as used by a database. */
export interface UsedModule {
  readonly uid: string
  readonly name: string
  readonly semanticVersion: string
  /** Hash of its file. */
  readonly sha256: string
  /** One element per word. May hold secrets. */
  readonly args: readonly string[]
}

/** Picks what a process runs from a larger object. */
export function runsOf({ build, restartNonce, modules }: Runs): Runs {
  return { build, restartNonce, modules }
}

/** Describes a revision for people. */
export function describeRuns({ build, modules }: Pick<Runs, 'build' | 'modules'>): string {
  const names = modules.map(({ name, semanticVersion }) => `${name} ${semanticVersion}`)
  return [`${build.flavour} ${build.version}`, ...names].join(' with ')
}

/**
 * Returns the revision of a shard process as one readable word: "valkey-8.1.1+0", with modules
 * "valkey-8.1.1+0+tally-1.0.0#…". Must never change for the same process (pinned by a test): shards of
 * another revision than the goal's are restarted, so an upgrade of Fairlead would restart every database.
 */
export function revisionOf({ build, restartNonce, modules }: Runs): string {
  const engine = `${build.flavour}-${build.version}+${restartNonce}`
  return [engine, ...modules.map(revisionOfModule)].join('+')
}

/**
 * Describes a revision: "valkey 8.1.1 with tally 1.0.0", without module arguments; with the restart number,
 * "valkey 8.1.1 (restart 2)", if it differs from `beside` only in that. Null: of a shard that the agent does
 * not know.
 */
export function describeRevision(revision: string | null, beside: string | null = null): string {
  if (revision === null) return 'nothing'
  const [words, nonce] = readRevision(revision)
  const [otherWords, otherNonce] = beside === null ? [] : readRevision(beside)
  const isRestart = words === otherWords && nonce !== otherNonce && nonce !== '0'
  return isRestart ? `${words} (restart ${nonce})` : words
}

function readRevision(revision: string): readonly [words: string, nonce: string] {
  const [, flavour, version, nonce = '0', rest = ''] = /^([a-z]+)-([^+]+)\+(\d+)(.*)$/.exec(revision) ?? []
  if (flavour === undefined) return [revision, '0']
  const modules = [...rest.matchAll(/\+(.+?)-(\d[^#]*)#[\da-f]{16}/g)].map(([, name, of]) => `${name} ${of}`)
  return [[`${flavour} ${version}`, ...modules].join(' with '), nonce]
}

/** Describes the revision of a process, next to another one. */
export function describeProcess(runs: Runs, beside: Runs | null = null): string {
  return describeRevision(revisionOf(runs), beside && revisionOf(beside))
}

/** Describes what shards should run, next to their former runs. */
export function describeGoal(goal: Pick<Goal, keyof Runs | 'from'>): string {
  return describeProcess(goal, goal.from)
}

/** Describes how a process differs from its goal: "runs redis 7.0.15, not valkey 8.1.1". */
export function describeOther(running: string | null, wanted: string): string {
  const [one, other] = [describeRevision(running, wanted), describeRevision(wanted, running)]
  return one === other ? `runs ${one}, with other arguments of its modules` : `runs ${one}, not ${other}`
}

/** People read revisions in logs and answers: arguments are only a fingerprint. */
function revisionOfModule({ name, semanticVersion, sha256, args }: UsedModule): string {
  return `${name}-${semanticVersion}#${fingerprint(`${sha256} ${JSON.stringify(args)}`)}`
}

/** FNV-1a, 64 bits: distinguishes texts, but protects no secret. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let n = 0; n < text.length; n++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(n))) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

import type { Build } from '@fairlead/api'

/** The wanted state of a database, complete. Made once from the request, which is not read again. */
export interface Goal {
  /** `remove`: all shards are to go. */
  readonly kind: 'keep' | 'remove'
  readonly build: Build
  /** Raised by a forced restart, so that "restart everything" becomes another revision. */
  readonly restartNonce: number
  /** By name. */
  readonly modules: readonly UsedModule[]
  /** What the shards ran when the goal was accepted: an undo leads back to it. Null while a database is created. */
  readonly from: Runs | null
  /** The number of groups, each with a range of slots and a primary. 1 unless the database is sharded. */
  readonly groups: number
  /** The engines' cluster mode. */
  readonly cluster: boolean
  /** Replicas of each group, its primary not counted. */
  readonly replicas: number
  readonly persistence: 'disabled' | 'aof' | 'snapshot'
  /** The shards that were primaries when the goal was accepted; none while a database is created. */
  readonly homes: readonly number[]
  /** The original primaries get their role back in the end. */
  readonly preserveRoles: boolean
  /** The goal undoes an upgrade: files that shards of the other revision wrote may be unreadable for this one. */
  readonly undo: boolean
  /** The data are discarded, at a user's request: shards of another revision are replaced by empty ones. */
  readonly discard: boolean
  /** A primary without replicas may restart in place: it loads its data from disk, and does not serve meanwhile. */
  readonly inPlace: boolean
  readonly policy: Policy
}

/** The policy of an upgrade. */
export interface Policy {
  /** Shards that are started, synced or restarted at once, over all groups; 0: as many as there are groups. */
  readonly parallel: number
  /** The other groups begin after the first one has handed over. */
  readonly canary: boolean
  /** Stop before the first handover, until a person resumes it. */
  readonly supervised: boolean
  /** How long the old primaries stay as standbys after the last handover: seconds, or until a person finalizes. */
  readonly rollbackWindow: number | 'until-finalized'
}

/** The policy of an upgrade without one in its request. */
export const plainPolicy: Policy = { parallel: 0, canary: true, supervised: false, rollbackWindow: 0 }

/** What a shard's process runs: everything that can be changed only with a new process. */
export interface Runs {
  readonly build: Build
  readonly restartNonce: number
  /** By name. */
  readonly modules: readonly UsedModule[]
}

/** A module of the catalogue as a database has it. */
export interface UsedModule {
  readonly uid: string
  readonly name: string
  readonly semanticVersion: string
  /** Of its file. */
  readonly sha256: string
  /** One element for each word. They may hold secrets. */
  readonly args: readonly string[]
}

/** The part of a larger object that says what a process runs. */
export function runsOf({ build, restartNonce, modules }: Runs): Runs {
  return { build, restartNonce, modules }
}

/** For people: the revision of a process is none of their words. */
export function describeRuns({ build, modules }: Pick<Runs, 'build' | 'modules'>): string {
  const names = modules.map(({ name, semanticVersion }) => `${name} ${semanticVersion}`)
  return [`${build.flavour} ${build.version}`, ...names].join(' with ')
}

/**
 * The revision of a shard process, as one readable word: "valkey-8.1.1+0", with modules "valkey-8.1.1+0+tally-1.0.0#…".
 *
 * Shards whose revision is not the goal's are restarted, so this text must never change for the same process: an
 * upgrade of Fairlead would restart every database. Pinned by a test.
 */
export function revisionOf({ build, restartNonce, modules }: Runs): string {
  const engine = `${build.flavour}-${build.version}+${restartNonce}`
  return [engine, ...modules.map(revisionOfModule)].join('+')
}

/**
 * A revision in words: "valkey 8.1.1 with tally 1.0.0". The arguments of modules are not in it. With the number of its restart, "valkey 8.1.1 (restart 2)", where only
 * that distinguishes it from the one `beside` it. Null: of a shard that the agent does not know.
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

/** The revision of such a process, in words, beside that of another one. */
export function describeProcess(runs: Runs, beside: Runs | null = null): string {
  return describeRevision(revisionOf(runs), beside && revisionOf(beside))
}

/** What shards are to run, in words, beside what they ran before. */
export function describeGoal(goal: Pick<Goal, keyof Runs | 'from'>): string {
  return describeProcess(goal, goal.from)
}

/** How a process differs from what it is to run: "runs redis 7.0.15, not valkey 8.1.1". */
export function describeOther(running: string | null, wanted: string): string {
  const [one, other] = [describeRevision(running, wanted), describeRevision(wanted, running)]
  return one === other ? `runs ${one}, with other arguments of its modules` : `runs ${one}, not ${other}`
}

/** People read revisions in logs and answers: the arguments are in it as a fingerprint only. */
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

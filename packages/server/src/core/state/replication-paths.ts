import type { Build } from '@fairlead/api'
import { compareVersions, matchesVersion } from '@fairlead/engine'
import type { Runs } from './goal.ts'

/** Which builds can take over from which by replication. The format of the full sync decides. */
interface Format {
  readonly flavour: string
  /** Measured versions stand for these versions. */
  readonly versions: readonly string[]
  /** The RDB format that a primary sends. */
  readonly sends: number
  /** The highest format that a replica reads, of those that its flavour shares with redis up to 11. */
  readonly reads: number
  /** Formats that it also reads with `rdb-version-check relaxed`, if they contain only classic types. */
  readonly readsRelaxed?: readonly number[]
}

/**
 * Measured: docs/explain/measurements/engines.md §3, 81 pairs of these builds, 2,000 strings and every core type; each pair that could replicate was
 * also seen to resume after a swap of the roles. Formats 12 and above of redis are not those of valkey.
 */
const formats: readonly Format[] = [
  { flavour: 'redis', versions: ['6.0', '6.2'], sends: 9, reads: 9 },
  { flavour: 'redis', versions: ['7.0'], sends: 10, reads: 10 },
  { flavour: 'redis', versions: ['8.0', '8.2', '8.4'], sends: 12, reads: 12 },
  { flavour: 'redis', versions: ['8.6'], sends: 13, reads: 13 },
  { flavour: 'valkey', versions: ['8.0', '8.1'], sends: 11, reads: 11 },
  { flavour: 'valkey', versions: ['9'], sends: 11, reads: 11, readsRelaxed: [12, 13] },
  { flavour: 'redict', versions: ['7.3'], sends: 12, reads: 12 },
]

/** How a fresh replica on `to` can get its data from a primary on `from`. */
export interface ReplicationPath {
  /** Why it cannot, as a sentence; undefined when it can, or when it was not measured: then the surge shard is the proof. */
  readonly obstacle: string | undefined
  /** True: the replica needs a setting to read the other flavour's format. */
  readonly relaxed: boolean
  /** True: this pair was measured, with success or not. */
  readonly measured: boolean
}

/**
 * Whether build `to` can read the snapshot and the stream of build `from`, by their RDB formats; `measured`: we have
 * seen it.
 */
export function replicationPath(from: Build, to: Build): ReplicationPath {
  const sender = formatOf(from)
  const reader = formatOf(to)
  if (sender === undefined || reader === undefined)
    return { obstacle: undefined, relaxed: isForeign(from, to), measured: false }
  if (sender.sends <= reader.reads) return { obstacle: undefined, relaxed: false, measured: true }
  if (reader.readsRelaxed?.includes(sender.sends))
    return { obstacle: undefined, relaxed: true, measured: true }
  const obstacle = `${to.flavour} ${to.version} cannot read what ${from.flavour} ${from.version} sends (RDB format ${sender.sends})`
  return { obstacle, relaxed: false, measured: true }
}

/** Why a fresh process of `to` cannot get its data from a process of `from`, as a sentence; undefined when no reason is known. */
export function obstacleToReplication(from: Feed, to: Feed): string | undefined {
  return replicationPath(from.build, to.build).obstacle ?? obstacleOfModules(from.modules, to.modules)
}

type Feed = Pick<Runs, 'build' | 'modules'>

/**
 * Measured (docs/explain/measurements/modules.md): a replica without the module, or with an older one, ends its process in the full sync, when
 * its own data are gone already.
 */
function obstacleOfModules(from: Runs['modules'], to: Runs['modules']): string | undefined {
  for (const { name, semanticVersion } of from) {
    const reader = to.find((module) => module.name === name)
    if (reader === undefined) return `the data of module ${name} cannot be read without that module`
    if (compareVersions(reader.semanticVersion, semanticVersion) < 0)
      return `${name} ${reader.semanticVersion} may not read what ${name} ${semanticVersion} writes`
  }
  return undefined
}

function formatOf({ flavour, version }: Build): Format | undefined {
  return formats.find(
    (format) =>
      format.flavour === flavour && format.versions.some((prefix) => matchesVersion(version, prefix)),
  )
}

/**
 * Does a process of `to` start with the files that a process of `from` has saved? Measured: valkey 9 sends other engines a format that they read, and writes its own files in a
 * format that redis 8.0 does not recognize ("Wrong signature").
 */
export function readsFilesOf(from: Build, to: Build): boolean {
  const isOwnForm = from.flavour === 'valkey' && compareVersions(from.version, '9.0') >= 0
  return !isOwnForm || to.flavour === 'valkey'
}

/** A valkey newer than those measured, whose primary is not a valkey. */
function isForeign(from: Build, to: Build): boolean {
  return to.flavour === 'valkey' && from.flavour !== 'valkey' && compareVersions(to.version, '9.0') >= 0
}

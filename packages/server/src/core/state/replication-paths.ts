import type { Build } from '@fairlead/api'
import { compareVersions, matchesVersion } from '@fairlead/engine'
import type { Runs } from './goal.ts'

/** Formats of full syncs: these decide between which builds replication can take over. */
interface Format {
  readonly flavour: string
  /** Versions represented by the measured ones. */
  readonly versions: readonly string[]
  /** RDB format that a primary sends. */
  readonly sends: number
  /** Highest format that a replica reads, of those shared with Redis (up to 11). */
  readonly reads: number
  /** Formats also read with `rdb-version-check relaxed`, if they contain only classic types. */
  readonly readsRelaxed?: readonly number[]
}

/**
 * Measured (docs/explain/measurements/engines.md §3): 81 pairs, 2,000 strings and every core type; each pair
 * that replicated also resumed after a swap of roles. Redis's formats from 12 are not Valkey's.
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
  /** Obstacle; undefined if there is none, or none was measured: then the surge shard is the proof. */
  readonly obstacle: string | undefined
  /** True if the replica needs a setting to read the other flavour's format. */
  readonly relaxed: boolean
  /** True if this pair was measured, whatever the result. */
  readonly measured: boolean
}

/** Returns if build `to` can read the snapshot and stream of build `from`, by their RDB formats. */
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

/** Returns why a fresh process of `to` cannot get its data from a process of `from`, if that is known. */
export function obstacleToReplication(from: Feed, to: Feed): string | undefined {
  return replicationPath(from.build, to.build).obstacle ?? obstacleOfModules(from.modules, to.modules)
}

type Feed = Pick<Runs, 'build' | 'modules'>

/**
 * Measured (docs/explain/measurements/modules.md): a replica without the module, or with an older one, exits
 * during the full sync, when its former data are already gone.
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
 * True if a process of `to` starts with files saved by `from`. Measured: Valkey 9 sends other engines a
 * readable format, but writes files that Redis 8.0 does not recognize ("Wrong signature").
 */
export function readsFilesOf(from: Build, to: Build): boolean {
  const isOwnForm = from.flavour === 'valkey' && compareVersions(from.version, '9.0') >= 0
  return !isOwnForm || to.flavour === 'valkey'
}

/** True for a Valkey newer than those measured, with a primary of another flavour. */
function isForeign(from: Build, to: Build): boolean {
  return to.flavour === 'valkey' && from.flavour !== 'valkey' && compareVersions(to.version, '9.0') >= 0
}

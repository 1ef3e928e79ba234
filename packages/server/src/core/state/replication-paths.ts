import type { Build } from '@fairlead/api'
import { compareVersions, matchesVersion } from '@fairlead/engine'
import type { Runs } from './goal.ts'

/** Which builds can take over from which by replication. What decides is the format in which a full sync is sent. */
interface Format {
  readonly flavour: string
  /** The versions it was measured on stand for these. */
  readonly versions: readonly string[]
  /** The RDB format that a primary sends. */
  readonly sends: number
  /** The highest format that a replica reads, of those that its flavour shares with redis up to 11. */
  readonly reads: number
  /** Formats that it also reads when told `rdb-version-check relaxed`, as long as only classic types are in them. */
  readonly readsRelaxed?: readonly number[]
}

/**
 * Measured: docs/measurements/engines.md §3, 81 pairs of these builds, 2,000 strings and every core type; each pair that could was
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

/** How a fresh replica of `to` can be fed by a primary of `from`. */
export interface ReplicationPath {
  /** Why not, in words; undefined when it can, or when it was not measured: the surge shard is the proof. */
  readonly obstacle: string | undefined
  /** The replica must be told to read what the other flavour sends. */
  readonly relaxed: boolean
  /** This pair was seen to work, or to fail. */
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

/** Why a fresh process of `to` cannot be fed by one of `from`, in words; undefined when nothing is known against it. */
export function obstacleToReplication(from: Feed, to: Feed): string | undefined {
  return replicationPath(from.build, to.build).obstacle ?? obstacleOfModules(from.modules, to.modules)
}

type Feed = Pick<Runs, 'build' | 'modules'>

/**
 * Measured (docs/modules-measured.md): a replica without the module, or with an older one, ends in its full sync, and
 * its own data are gone by then.
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
 * Does a process of `to` start on what one of `from` has saved? Seen: valkey 9 sends others what they read, and writes its own files in a
 * form that redis 8.0 takes for none ("Wrong signature").
 */
export function readsFilesOf(from: Build, to: Build): boolean {
  const isOwnForm = from.flavour === 'valkey' && compareVersions(from.version, '9.0') >= 0
  return !isOwnForm || to.flavour === 'valkey'
}

/** A later valkey than was measured, fed by something else than valkey. */
function isForeign(from: Build, to: Build): boolean {
  return to.flavour === 'valkey' && from.flavour !== 'valkey' && compareVersions(to.version, '9.0') >= 0
}

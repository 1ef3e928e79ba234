import type { Build, NodeBackup, Seed } from '@fairlead/api'
import { compareVersions, matchesVersion } from '@fairlead/engine'
import { type Refused, refusedForAll } from '../state/refused.ts'
import { listBuilds, type OfferedBuild, resolveBuild } from './resolve-build.ts'

/** Fields of a new database that begins with a backup. */
interface RestoreRequest {
  readonly engineVersion: string | undefined
  readonly preferredFlavour?: string
  readonly groups: number
  readonly cluster: boolean
  readonly memoryBytes: number
}

/** The builds to choose from, how to choose, and the data of each group. */
export interface Restore {
  readonly builds: readonly OfferedBuild[]
  readonly engineVersion: string | undefined
  readonly preferredFlavour: string
  readonly seeds: readonly Seed[]
}

/**
 * Returns how a new database begins with a backup, on a build that can read its files. Without a version: the
 * backup's own, or the newest of its flavour. A refusal lists every obstacle.
 */
export function resolveRestore(
  request: RestoreRequest,
  backup: NodeBackup,
  builds: readonly OfferedBuild[],
  moduleNames: readonly string[],
): Restore | Refused {
  const { database, groups, name } = backup
  if (backup.state !== 'done')
    return unreadable(
      `from_backup: backup ${name} is ${backup.state === 'failed' ? 'failed' : 'not complete'}`,
    )
  const readable = builds.filter((build) =>
    groups.every(({ format }) => canRead(build, database.build, format)),
  )
  const obstacles = [
    ...obstaclesOfShape(request, backup),
    ...obstaclesOfEngine(request, backup, builds, readable),
    ...database.modules
      .filter((module) => !moduleNames.includes(module.name))
      .map(({ name: needed }) => ({
        refused: 'missing_module' as const,
        field: 'module_list',
        message: `module_list: the data of backup ${name} need the module ${needed}`,
      })),
  ]
  const refused = refusedForAll(obstacles)
  if (refused !== undefined) return refused
  const { flavour, version } = database.build
  const isHere = readable.some((one) => one.flavour === flavour && one.version === version)
  return {
    builds: readable,
    engineVersion: request.engineVersion ?? (isHere ? `${flavour}-${version}` : undefined),
    preferredFlavour: request.preferredFlavour ?? flavour,
    seeds: groups.map(({ number, sha256, slots, data }) => ({
      backup: name,
      group: number,
      sha256,
      slots,
      data,
    })),
  }
}

function obstaclesOfShape(
  { groups, cluster, memoryBytes }: RestoreRequest,
  backup: NodeBackup,
): readonly Refused[] {
  const shards = backup.groups.length
  const elsewhere = backup.groups.some(({ data }) => data.databases.some(({ number }) => number !== 0))
  const needed = Math.max(...backup.groups.map(({ data }) => data.memoryBytes)) * shards
  return [
    ...(groups === shards
      ? []
      : [
          unreadable(`shards_count: backup ${backup.name} is of ${shards}, and is not split`, 'shards_count'),
        ]),
    ...(cluster && elsewhere
      ? [
          unreadable(
            `sharding: backup ${backup.name} has keys outside of database 0, and sharding knows no other`,
            'sharding',
          ),
        ]
      : []),
    ...(memoryBytes === 0 || memoryBytes >= needed
      ? []
      : [
          {
            refused: 'memory_size_too_small' as const,
            field: 'memory_size',
            message: `memory_size: the data of backup ${backup.name} need ${needed} bytes, and more is evicted or refused; send at least that, or 0 for no limit`,
          },
        ]),
  ]
}

function obstaclesOfEngine(
  { engineVersion, preferredFlavour }: RestoreRequest,
  { name, database, groups }: NodeBackup,
  builds: readonly OfferedBuild[],
  readable: readonly OfferedBuild[],
): readonly Refused[] {
  const { flavour, version } = database.build
  const format = groups[0]?.format ?? ''
  const can = `builds here that can: ${readable.length === 0 ? 'none' : listBuilds(readable)}`
  if (engineVersion === undefined)
    return readable.length > 0
      ? []
      : [unreadable(`from_backup: no build here can read ${format} of ${flavour} ${version}`, 'from_backup')]
  const target = resolveBuild(engineVersion, null, builds, preferredFlavour)
  if ('refused' in target || isAmong(target.build, readable) || namesAny(engineVersion, readable)) return []
  const asked = `${target.build.flavour} ${target.build.version}`
  return [
    unreadable(
      `engine_version: ${asked} cannot read backup ${name} (${format} of ${flavour} ${version}); ${can}`,
      'engine_version',
    ),
  ]
}

function isAmong({ flavour, version }: Build, builds: readonly Build[]): boolean {
  return builds.some((one) => one.flavour === flavour && one.version === version)
}

/** "8" also means an older build that can read the files. */
function namesAny(engineVersion: string, builds: readonly Build[]): boolean {
  const [, flavour, version = ''] = /^(?:([a-z]+)-)?(.+)$/.exec(engineVersion) ?? []
  return builds.some(
    (build) => (flavour ?? build.flavour) === build.flavour && matchesVersion(build.version, version),
  )
}

function unreadable(message: string, field = 'from_backup'): Refused {
  return { refused: 'backup_not_readable', message, field }
}

/**
 * True if a build certainly reads a file: it reads what its flavour wrote before, and files of others up to a
 * format (measured with redis 6.0 to 8.6, valkey 8.0 to 9.1, redict 7.3). Whether Valkey 9 reads newer files
 * of Redis depends on the data, so it is not tried.
 */
export function canRead(build: Build, writer: Build, format: string): boolean {
  if (build.flavour === writer.flavour && compareVersions(build.version, writer.version) >= 0) return true
  const [, number] = /^REDIS(\d{4})$/.exec(format) ?? []
  if (number === undefined) return false
  const newest = newestFormats[build.flavour]?.find(([from]) => compareVersions(build.version, from) >= 0)
  return newest !== undefined && Number(number) <= newest[1]
}

/** The newest common format that a build reads, from a version on; the newest version first. */
const newestFormats: Readonly<Record<string, readonly (readonly [from: string, format: number])[]>> = {
  redis: [
    ['8.6', 13],
    ['7.4', 12],
    ['7.2', 11],
    ['7.0', 10],
    ['0', 9],
  ],
  valkey: [['0', 11]],
  redict: [['0', 12]],
}

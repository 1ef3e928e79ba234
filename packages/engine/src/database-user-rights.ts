import { compareVersions } from './version.ts'

/** An engine build, as far as the words of its access rules depend on it. */
interface Build {
  readonly flavour: string
  readonly version: string
}

/** A command that a user may not use, and the words of an ACL rule that take it away. */
export interface Denial {
  /** "migrate", "script|debug". */
  readonly command: string
  readonly words: readonly string[]
}

/**
 * What the own user of a database may ask of this build, as command words of an ACL rule: everything but what administers the
 * engine or reaches beyond the database. Throws on an invalid version.
 */
export function databaseUserRights(build: Build, inCluster: boolean): readonly string[] {
  const harmless = isOld(build) ? [...ofOld, ...(inCluster ? ofOldInCluster : [])] : []
  return [
    ...['+@all', '-@admin'],
    ...beyondDatabase(build).flatMap(({ words }) => words),
    ...harmless.map((command) => `+${command}`),
  ]
}

/**
 * Commands that engines do not count as administrative, although they reach beyond the database. MIGRATE opens connections from
 * the engine to any address and sends there what it is told; RESTORE-ASKING writes to slots that are on their way to another
 * shard; SCRIPT DEBUG stops the process for as long as one client likes. Throws on an invalid version.
 */
export function beyondDatabase(build: Build): readonly Denial[] {
  // Before redis 7 a subcommand cannot be forbidden: the command is, and its other subcommands are allowed again.
  const debug = isOld(build) ? ['-script', ...ofScript.map((name) => `+script|${name}`)] : ['-script|debug']
  return [
    { command: 'migrate', words: ['-migrate'] },
    { command: 'restore-asking', words: ['-restore-asking'] },
    { command: 'script|debug', words: debug },
  ]
}

/**
 * Commands that only administrators of an engine may use, although they are in the category `@connection`: to
 * pause clients or to end the pause of a handover, to end other connections or what they wait for, to exempt
 * one's own connection from eviction. Throws on an invalid version.
 */
export function beyondConnection(build: Build): readonly Denial[] {
  const ofOldClient = [
    '-client',
    ...ofOld.filter((each) => each.startsWith('client|')).map((each) => `+${each}`),
  ]
  return ofConnections.map((command) => ({
    command,
    words: isOld(build) ? ofOldClient : [`-${command}`],
  }))
}

function isOld({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '7.0') < 0
}

const ofConnections = ['pause', 'unpause', 'kill', 'unblock', 'no-evict'].map((name) => `client|${name}`)

const ofScript = ['load', 'exists', 'flush', 'kill', 'help'] as const

/** Before redis 7, CLIENT, ACL and CLUSTER are administrative as a whole, though clients need these of them. */
const ofOld = [
  'client|setname',
  'client|getname',
  'client|id',
  'client|reply',
  'client|tracking',
  'acl|whoami',
] as const
const ofOldInCluster = ['slots', 'nodes', 'keyslot', 'info', 'myid', 'countkeysinslot'].map(
  (name) => `cluster|${name}`,
)

import { compareVersions } from './version.ts'

/** Properties of an engine build that affect its access rules. */
interface Build {
  readonly flavour: string
  readonly version: string
}

/** A forbidden command, and the ACL rule's words that forbid it. */
export interface Denial {
  /** "migrate", "script|debug". */
  readonly command: string
  readonly words: readonly string[]
}

/**
 * Returns the rights of a database's own user for this build, as words of an ACL rule: everything except
 * administration of the engine and commands beyond the database. Throws on an invalid version.
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
 * Commands that engines do not count as administrative, although they go beyond the database:
 * - MIGRATE opens connections from the engine to any address, and sends any data there;
 * - RESTORE-ASKING writes to slots that are moving to another shard;
 * - SCRIPT DEBUG lets one client stop the process for any time.
 * Throws on an invalid version.
 */
export function beyondDatabase(build: Build): readonly Denial[] {
  // Before Redis 7 a subcommand cannot be forbidden: the command is, and its other subcommands are allowed
  // again.
  const debug = isOld(build) ? ['-script', ...ofScript.map((name) => `+script|${name}`)] : ['-script|debug']
  return [
    { command: 'migrate', words: ['-migrate'] },
    { command: 'restore-asking', words: ['-restore-asking'] },
    { command: 'script|debug', words: debug },
  ]
}

/**
 * Commands in the category `@connection` that only an engine's administrators may use: they pause clients,
 * end the pause of a handover, end other connections or their waits, or exempt a connection from eviction.
 * Throws on an invalid version.
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

/** Before Redis 7, CLIENT, ACL and CLUSTER are administrative, though clients need these subcommands. */
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

import { createHash } from 'node:crypto'
import { type EffectRunner, type EngineConnection, EngineError, printable } from '@fairlead/engine'
import { areAsGiven, usersToLimit } from '../../core/carry-over/within-reach.ts'
import type { Database } from '../../core/state/database.ts'
import { revisionOf } from '../../core/state/goal.ts'
import { isLive, type LiveShard, type ObservedDatabase } from '../../core/state/topology.ts'
import { inPieces } from '../turn/in-pieces.ts'
import type { EngineConnections, Log } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { readAclDialect, readParameters, readUserLines } from './read-settings.ts'

/**
 * Removes rights beyond the database from users of running engines: users of processes started by an older
 * Fairlead, rights to modules' commands that the agent does not know, and users added since. Closes no
 * connection.
 */
export async function keepWithinReach(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections<'tryOn'> & EffectRunner & Log,
  memory: TurnMemory,
): Promise<void> {
  for (const shard of groups.flatMap(({ shards }) => shards)) {
    // While another build starts, the process's commands are unknown.
    if (!isLive(shard) || shard.engine.loading || shard.revision !== revisionOf(shard.wanted)) continue
    if (!memory.isTime(`reach of ${shard.engine.runId}`, LOOK_EVERY_MS)) continue
    await ports.engines.tryOn(database, { id: shard.id, ...shard.address }, (connection) =>
      limit(connection, shard, database, ports, memory),
    )
  }
}

/**
 * Shorter than the safety net's interval, so that each of its turns does this: until then a user added at run
 * time may have too many rights.
 */
const LOOK_EVERY_MS = 30_000

/** The input for judging a process's users. */
interface UsersSeen {
  readonly lines: readonly string[]
  readonly hasModules: boolean
  /** Digest of this and the process: while unchanged, the engine's commands (hundreds of KB) are not read. */
  readonly judged: string
}

async function seeUsers(connection: EngineConnection, runId: string): Promise<UsersSeen> {
  const modules = await connection.call('MODULE', 'LIST')
  const lines = await readUserLines(connection)
  const hash = createHash('sha256').update(`${runId} ${JSON.stringify(modules)}`)
  for (const line of lines) hash.update(`\n${line}`)
  const hasModules = !Array.isArray(modules) || modules.length > 0
  return { lines, hasModules, judged: hash.digest('base64') }
}

async function limit(
  connection: EngineConnection,
  { id, wanted, engine }: LiveShard,
  database: Database,
  ports: EffectRunner & Log,
  { notes }: Pick<TurnMemory, 'notes'>,
): Promise<void> {
  const { lines, hasModules, judged } = await seeUsers(connection, engine.runId)
  const note = `users within reach at ${id}`
  if (notes.get(note) === judged) return
  const isAsGiven = !hasModules && areAsGiven(lines, wanted.build, database.cluster)
  const limited = isAsGiven ? [] : await limitUsers(connection, wanted.build, ports)
  if (limited?.length === 0) notes.set(note, judged)
  if (limited !== undefined && limited.length > 0)
    ports.log.warn(
      { database: database.uid, shard: id, users: limited },
      'users may no longer use what reaches beyond their database or connection (MIGRATE, RESTORE-ASKING, SCRIPT DEBUG, CLIENT PAUSE, KILL and UNBLOCK)',
    )
}

/** Returns the names of limited users, at most 50; undefined if refused. Throws EngineUnreachable. */
export async function limitUsers(
  engine: EngineConnection,
  build: Parameters<typeof readAclDialect>[1],
  { effect, log }: EffectRunner & Log,
): Promise<readonly string[] | undefined> {
  const lines = await readUserLines(engine)
  const dialect = await readAclDialect(engine, build)
  const users = await inPieces(usersToLimit(lines, dialect))
  if (users.length === 0) return []
  try {
    for (const { name, words } of users)
      await effect('limit-user', () => engine.call('ACL', 'SETUSER', name, ...words))
    if ((await readParameters(engine))['aclfile'] !== '')
      await effect('save-users', () => engine.call('ACL', 'SAVE'))
    return users.map(({ name }) => printable(name)).slice(0, MOST_NAMED)
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause
    log.warn(
      { err: cause, port: engine.address.port },
      'the rights of an engine’s users could not be limited',
    )
    return undefined
  }
}

/** Limit of names for the log. */
const MOST_NAMED = 50

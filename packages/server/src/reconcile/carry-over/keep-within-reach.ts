import { type EngineConnection, EngineError, printable } from '@fairlead/engine'
import { usersToLimit } from '../../core/carry-over/within-reach.ts'
import type { Database } from '../../core/state/database.ts'
import { revisionOf } from '../../core/state/goal.ts'
import { isLive, type LiveShard, type ObservedDatabase } from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import { inPieces } from '../turn/in-pieces.ts'
import type { EffectRunner, EngineConnections, Log } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { readAclDialect, readParameters, readUserLines } from './read-settings.ts'

/**
 * Takes from the users of running engines what reaches beyond their database: of a process that an older Fairlead has started, of
 * modules, whose commands its agent does not know, and of users that people have added since. No connection is closed for it.
 */
export async function keepWithinReach(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections & EffectRunner & Log,
  memory: TurnMemory,
): Promise<void> {
  for (const shard of groups.flatMap(({ shards }) => shards)) {
    // While another build is on its way, it is not known which words the process has.
    if (!isLive(shard) || shard.engine.loading || shard.revision !== revisionOf(shard.wanted)) continue
    if (!memory.isTime(`reach of ${shard.engine.runId}`, LOOK_EVERY_MS)) continue
    await ifItAnswers(() => limit(shard, database, ports))
  }
}

/**
 * Often enough that no turn of the safety net leaves it out: until the next one a user that is added at run time may have too many rights.
 */
const LOOK_EVERY_MS = 30_000

async function limit(
  { id, address, wanted }: LiveShard,
  database: Database,
  ports: EngineConnections & EffectRunner & Log,
): Promise<void> {
  const engine = await ports.engines.connect(database, { id, ...address })
  const limited = await limitUsers(engine, wanted.build, ports)
  if (limited.length > 0)
    ports.log.warn(
      { database: database.uid, shard: id, users: limited },
      'users may no longer use what reaches beyond their database or connection (MIGRATE, RESTORE-ASKING, SCRIPT DEBUG, CLIENT PAUSE, KILL and UNBLOCK)',
    )
}

/** Answers the names of the users that had more, 50 at most. Throws EngineUnreachable. */
export async function limitUsers(
  engine: EngineConnection,
  build: Parameters<typeof readAclDialect>[1],
  { effect, log }: EffectRunner & Log,
): Promise<readonly string[]> {
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
    log.warn({ err: cause, port: engine.address.port }, 'an engine does not limit its users')
    return []
  }
}

/** It is for the log. */
const MOST_NAMED = 50

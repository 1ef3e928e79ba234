import type { EngineConnection } from './connection.ts'
import { type ReplicationInfo, readReplication } from './read-info.ts'

/** Reads the section `replication` of an engine's INFO. Throws EngineError or EngineUnreachable. */
export async function replicationOf(connection: EngineConnection): Promise<ReplicationInfo> {
  return readReplication(await connection.info('replication'))
}

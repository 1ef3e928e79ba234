import { createHash } from 'node:crypto'
import type { Database } from '../core/database.ts'
import type { SeenDatabase } from '../core/topology.ts'
import type { ShardCertificate } from '../tls/tls-service.ts'
import type { Deps } from './deps.ts'
import { agentName } from './observe.ts'
import type { TurnMemory } from './turn-memory.ts'

/** What the shards of a database prove themselves with to each other; null where they do not. */
export async function shardCertificate(
  { uid, shardTls }: Pick<Database, 'uid' | 'shardTls'>,
  { tls }: Pick<Deps, 'tls'>,
): Promise<ShardCertificate | null> {
  return shardTls ? tls.shards(uid) : null
}

/**
 * Shards prove themselves with the certificate that is good now: it is renewed long before the one before ends, and both are
 * signed by the same authority, so that it does not matter which shard gets it when. Nothing restarts for it.
 */
export async function keepShardCertificates(
  database: Database,
  { groups }: SeenDatabase,
  deps: Pick<Deps, 'agent' | 'effect' | 'tls'>,
  memory: Pick<TurnMemory, 'isTime'>,
): Promise<void> {
  if (!memory.isTime(`certificate of the shards of ${database.uid}`, LOOK_EVERY_MS)) return
  const certificate = await shardCertificate(database, deps)
  if (certificate === null) return
  const name = createHash('sha256').update(certificate.cert).digest('hex')
  for (const shard of groups.flatMap(({ shards }) => shards)) {
    if (shard.leaving || shard.certificate == null || shard.certificate === name) continue
    const params = { id: agentName(shard.id) }
    const { ca, cert, key } = certificate
    await deps.effect('put-certificate', () =>
      deps.agent.putShardCertificate({ params, body: { ca, cert, key } }),
    )
  }
}

const LOOK_EVERY_MS = 10_000

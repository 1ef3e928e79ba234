import { createHash } from 'node:crypto'
import type { EffectRunner } from '@fairlead/engine'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { ShardCertificate } from '../../tls/tls-service.ts'
import type { Certifying, NodeAgent } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/** Returns a shard's certificate for other shards of its database; null without TLS. */
export async function shardCertificate(
  { databaseUid, tlsPort }: Pick<ShardRecord, 'databaseUid' | 'tlsPort'>,
  { tls }: Certifying<'shards'>,
): Promise<ShardCertificate | null> {
  return tlsPort === null ? null : tls.shards(databaseUid)
}

/**
 * Gives shards the current certificate. It is renewed long before the previous one expires, and both have the
 * same authority, so the order of shards does not matter. Nothing restarts for it.
 */
export async function keepShardCertificates(
  { uid }: Pick<Database, 'uid'>,
  { groups }: ObservedDatabase,
  ports: NodeAgent<'putShardCertificate'> & EffectRunner & Certifying<'shards'>,
  memory: Pick<TurnMemory, 'isTime'>,
): Promise<void> {
  if (!memory.isTime(`certificate of the shards of ${uid}`, LOOK_EVERY_MS)) return
  const shards = groups
    .flatMap((group) => group.shards)
    .filter(({ leaving, certificate }) => !leaving && certificate != null)
  if (shards.length === 0) return
  const { ca, cert, key } = await ports.tls.shards(uid)
  const name = createHash('sha256').update(cert).digest('hex')
  for (const shard of shards) {
    if (shard.certificate === name) continue
    const params = { id: agentName(shard.id) }
    await ports.effect('put-certificate', () =>
      ports.agent.putShardCertificate({ params, body: { ca, cert, key } }),
    )
  }
}

const LOOK_EVERY_MS = 10_000

import type { Address } from '@fairlead/api'
import type { EffectRunner, EngineConnection } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { addressToFollow } from '../../core/state/shard-addresses.ts'

/**
 * Prepares a shard to follow another one outside of cluster mode, over TLS if both can: new links use TLS
 * accordingly, the present link stays. On a primary this has no effect until it is a replica. Returns the
 * address to follow; throws EngineUnreachable.
 */
export async function prepareToFollow(
  shard: EngineConnection,
  primary: Pick<ShardRecord, 'host' | 'port' | 'tlsPort'>,
  { effect }: EffectRunner,
): Promise<Address> {
  const canSpeakTls = await speaksTls(shard)
  const { host, port, tls } = addressToFollow(primary, canSpeakTls)
  if (canSpeakTls)
    await effect('set-tls-replication', () =>
      shard.call('CONFIG', 'SET', 'tls-replication', tls ? 'yes' : 'no'),
    )
  return { host, port }
}

/** Asks the process, not the record: an older process may be without TLS. */
async function speaksTls(shard: EngineConnection): Promise<boolean> {
  const reply = await shard.call('CONFIG', 'GET', 'tls-port')
  return Array.isArray(reply) && Number(reply[1] ?? 0) > 0
}

import type { Address } from '@fairlead/api'
import type { EngineConnection } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { addressToFollow } from '../../core/state/shard-addresses.ts'
import type { EffectRunner } from '../turn/ports.ts'

/**
 * Makes a shard ready to follow another outside of cluster mode, over TLS if both can: links that it opens from now on are of that kind, the one
 * that it has stays. Changes nothing of a primary but what it would do as a replica. Where it is to follow. Throws EngineUnreachable.
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

/** The process is asked, not the record: it may be an older process without TLS, and only the next one has it. */
async function speaksTls(shard: EngineConnection): Promise<boolean> {
  const reply = await shard.call('CONFIG', 'GET', 'tls-port')
  return Array.isArray(reply) && Number(reply[1] ?? 0) > 0
}

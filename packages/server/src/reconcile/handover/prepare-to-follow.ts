import type { Address } from '@fairlead/api'
import type { EngineConnection } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { addressToFollow } from '../../core/state/shard-addresses.ts'
import type { EffectRunner } from '../turn/ports.ts'

/**
 * Makes a shard ready to follow another one outside of cluster mode, over TLS if both can: links that it opens from now on use TLS or not accordingly; the link
 * that it has stays. Of a primary this changes only what it would do as a replica. Answers the address to follow. Throws EngineUnreachable.
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

/** Asks the process and not the record: the process may be older and without TLS, which only its next process will have. */
async function speaksTls(shard: EngineConnection): Promise<boolean> {
  const reply = await shard.call('CONFIG', 'GET', 'tls-port')
  return Array.isArray(reply) && Number(reply[1] ?? 0) > 0
}

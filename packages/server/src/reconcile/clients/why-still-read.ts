import type { Address } from '@fairlead/api'
import type { Database } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-reach.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type { EndpointProxy } from '../turn/ports.ts'

/**
 * Returns the obstacle to ending a shard's process: endpoint clients still read replies from before its role
 * moved. The proxy reports them for at most half a minute, so a client that does not read is not waited for.
 */
export async function whyStillRead(
  { uid }: Database,
  shard: Address & { readonly id: number },
  { proxy }: EndpointProxy<'reportProxy'>,
): Promise<Obstacle | undefined> {
  const { endpoints } = await proxy.reportProxy({}).catch((cause: unknown) => {
    if (cause instanceof ProxyUnreachable) return { endpoints: [] } // and its clients with it
    throw cause
  })
  const at = `${shard.host}:${shard.port}`
  const readers = endpoints
    .filter(({ id }) => id === endpointName(uid))
    .flatMap(({ behind }) => behind)
    .filter((each) => each.shard === at)
    .reduce((sum, { connections }) => sum + connections, 0)
  if (readers === 0) return undefined
  const why = `${readers} client(s) of the endpoint still read what shard ${shard.id} answered`
  return { code: 'clients_reading', why }
}

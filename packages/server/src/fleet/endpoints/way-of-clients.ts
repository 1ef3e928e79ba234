import type { Address } from '@fairlead/api'
import type { EngineTls } from '@fairlead/engine'
import { ENDPOINT_HOST } from '../../core/state/endpoint-name.ts'
import type { TlsNow } from '../../tls/tls-service.ts'
import type { DatabaseView } from '../databases/databases-service.ts'

/** Addresses for clients: one, or one for each group. */
export function addressesOf({ database, shards }: DatabaseView): readonly Address[] {
  if (database.endpointPort !== null) return [{ host: ENDPOINT_HOST, port: database.endpointPort }]
  const primaries = database.groups.flatMap(({ primaryShard }) =>
    shards.filter(({ id }) => id === primaryShard),
  )
  return primaries.length === database.groups.length ? primaries : []
}

/**
 * The certificates that clients trust. For an operator's certificate, the authority and host names are
 * unknown.
 */
export function trustOf({ ca, proxy }: TlsNow): EngineTls {
  return { ca: proxy.isOurs ? [ca] : [ca, proxy.cert], checksHost: proxy.isOurs }
}

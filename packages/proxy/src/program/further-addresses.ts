import type { EndpointSpec, MissingAddress } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import { whyItCannotListen } from '../listen/why-it-cannot-listen.ts'
import type { HostedEndpoint } from '../workers/endpoint-host.ts'

/** The further addresses of open endpoints, and where these cannot listen. */
export interface FurtherAddresses {
  /** Listens at exactly the further addresses of the spec. Never rejects. */
  listen(id: string, spec: EndpointSpec, endpoint: HostedEndpoint): Promise<void>
  /** Returns the addresses where the endpoint could not listen. */
  missingOf(id: string): readonly MissingAddress[]
  /** Returns the endpoints with such an address. */
  incomplete(): Iterable<string>
  forget(id: string): void
}

/** Logs each address that is missing once, and when none is. */
export function createFurtherAddresses(log: Log): FurtherAddresses {
  const missing = new Map<string, readonly MissingAddress[]>()
  return {
    async listen(id, { also = [], port }, endpoint) {
      const before = missing.get(id) ?? []
      const allLack = (cause: unknown) => also.map((host) => ({ host, why: messageOf(cause) }))
      const lacking = await endpoint.listenAlso(also).catch(allLack)
      const now = await Promise.all(
        lacking.map(async ({ host, why }) => ({ host, why: await whyItCannotListen({ host, port }, why) })),
      )
      for (const { host, why } of now)
        if (!before.some((one) => one.host === host)) log('endpoint cannot listen', { id, host, why })
      if (now.length > 0) missing.set(id, now)
      else if (missing.delete(id)) log('endpoint listens at all its addresses', { id, port })
    },
    missingOf: (id) => missing.get(id) ?? [],
    incomplete: () => missing.keys(),
    forget: (id) => void missing.delete(id),
  }
}

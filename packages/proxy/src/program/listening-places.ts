import type { EndpointSpec, MissingAddress } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'
import { addressText } from '../listen/address-text.ts'
import type { Log } from '../listen/cut-log.ts'
import { placesOf, portsOf } from '../listen/places.ts'
import { whyItCannotListen } from '../listen/why-it-cannot-listen.ts'
import type { HostedEndpoint } from '../workers/endpoint-host.ts'

/** The places of open endpoints, and where these cannot listen. */
export interface ListeningPlaces {
  /** Listens at exactly the places of the spec. Never rejects. */
  listen(id: string, spec: EndpointSpec, endpoint: HostedEndpoint): Promise<void>
  /** Returns the addresses where the endpoint could not listen. */
  missingOf(id: string): readonly MissingAddress[]
  /** Returns the endpoints with such an address. */
  incomplete(): Iterable<string>
  forget(id: string): void
}

/** Logs each address that is missing once, and when none is. */
export function createListeningPlaces(log: Log): ListeningPlaces {
  const missing = new Map<string, readonly MissingAddress[]>()
  return {
    async listen(id, spec, endpoint) {
      const places = placesOf(spec)
      const before = missing.get(id) ?? []
      const newPorts = portsOf(places).filter((port) => !portsOf(placesOf(endpoint.wanted)).includes(port))
      const allLack = (cause: unknown) =>
        (newPorts.length > 0 ? newPorts : portsOf(places)).flatMap((port) =>
          [places.host, ...places.also].map((host) => ({ host, port, why: messageOf(cause) })),
        )
      const lacking = await endpoint.listenAt(places).catch(allLack)
      const now = await Promise.all(
        lacking.map(async ({ host, port = places.port, why }) => {
          return { host, port, why: await whyItCannotListen({ host, port }, why) }
        }),
      )
      for (const { why, ...address } of now)
        if (!before.some((one) => one.host === address.host && one.port === address.port))
          log('endpoint cannot listen', { id, address: addressText(address), why })
      if (now.length > 0) missing.set(id, now)
      else if (missing.delete(id)) log('endpoint listens at all its addresses', { id, port: places.port })
    },
    missingOf: (id) => missing.get(id) ?? [],
    incomplete: () => missing.keys(),
    forget: (id) => void missing.delete(id),
  }
}

import type { Socket } from 'node:net'
import type { EndpointSpec, FormerPlace } from '@fairlead/api/of-proxies'

/** The places of an endpoint: its port at one or several addresses, and former ports at the same ones. */
export interface Places {
  readonly host: string
  readonly port: number
  readonly also: readonly string[]
  readonly tls: EndpointSpec['tls']
  readonly former: readonly FormerPlace[]
}

/** Port and encryption of a client's connection. */
export interface Place {
  readonly port: number
  readonly tls: boolean
}

/** Returns where the endpoint of this spec listens. */
export function placesOf({ host, port, also = [], tls, former = [] }: EndpointSpec): Places {
  return { host, port, also, tls, former }
}

/** Returns the former places. */
export function formerIn({ former }: Places): readonly Place[] {
  return former.map(({ port, tls }) => ({ port, tls: tls !== null }))
}

/** Returns all places; the first is the present one. */
export function placesIn(places: Places): readonly Place[] {
  return [{ port: places.port, tls: places.tls !== null }, ...formerIn(places)]
}

/** Returns the fields of a spec. */
export function inSpec({ host, port, also, tls, former }: Places) {
  return { host, port, also: [...also], tls, former: [...former] }
}

/** Returns the ports, each once. */
export function portsOf({ port, former }: Places): readonly number[] {
  return [...new Set([port, ...former.map((place) => place.port)])]
}

/** True if clients with (or without) TLS may connect to this port. */
export function isServed(places: Places, place: Place): boolean {
  return placesIn(places).some(({ port, tls }) => port === place.port && tls === place.tls)
}

/** Returns the certificate for clients; null: no place has TLS. */
export function certificateOf({ tls, former }: Places): EndpointSpec['tls'] {
  return tls ?? former.find((place) => place.tls !== null)?.tls ?? null
}

/** Returns where a client has connected. */
export function placeOf(client: Pick<Socket, 'localPort'>): Place {
  return { port: client.localPort ?? 0, tls: 'encrypted' in client }
}

/** Names a place in a map. */
export function placeKey({ port, tls }: Place): string {
  return `${port} ${tls}`
}

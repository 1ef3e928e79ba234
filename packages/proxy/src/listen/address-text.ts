import type { Socket } from 'node:net'
import type { Address } from '@fairlead/api/of-proxies'

/** Formats as engines do: 127.0.0.1:6379, [::1]:6379. */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Returns the local end of a socket; empty if the socket is closed. */
export function localAddress({
  localAddress: host,
  localPort: port,
}: Pick<Socket, 'localAddress' | 'localPort'>): string {
  return host === undefined || port === undefined ? '' : addressText({ host, port })
}

/** Returns the remote end of a socket; empty if closed, so it must be read when the connection opens. */
export function remoteAddress({ remoteAddress: host, remotePort: port }: Socket): string {
  return host === undefined || port === undefined ? '' : addressText({ host, port })
}

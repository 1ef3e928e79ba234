import type { Socket } from 'node:net'
import type { Address } from '@fairlead/api/of-proxies'

/** As engines write addresses: 127.0.0.1:6379, [::1]:6379. */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The local end of a socket. Empty when the socket is gone. */
export function localAddress({ localAddress: host, localPort: port }: Socket): string {
  return host === undefined || port === undefined ? '' : addressText({ host, port })
}

/** The remote end of a socket. Empty when the socket is gone, so it has to be read when the connection comes. */
export function remoteAddress({ remoteAddress: host, remotePort: port }: Socket): string {
  return host === undefined || port === undefined ? '' : addressText({ host, port })
}

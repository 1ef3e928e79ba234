import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import type { Address, MissingAddress } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'

/** The listening sockets of an endpoint: one port at one or several addresses. */
export interface Doors extends AsyncDisposable {
  /**
   * Listens at the first address and at exactly these others. Doors at unchanged addresses stay open, and
   * clients that came through a closed door stay connected. Returns the addresses where it cannot listen.
   */
  listenAlso(others: readonly string[]): Promise<readonly MissingAddress[]>
}

interface Door {
  readonly server: Server
  readonly isShared: boolean
}

type Accept = (socket: Socket) => void

const BACKLOG = 4_096
/** Half-open clients are served to the end. */
export const ofSockets = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 300_000,
}

/**
 * Listens at the first address, and throws if it cannot. That is also the lock of the port: a proxy without
 * it does not listen at other addresses. `reusePort`: several threads listen.
 */
export async function openDoors(
  { host: first, port }: Address,
  reusePort: boolean,
  accept: Accept,
): Promise<Doors> {
  const open = new Map<string, Door>([[first, await openDoor({ host: first, port }, reusePort, accept)]])
  return {
    async listenAlso(others) {
      const hosts = [first, ...others]
      // The kernel allows one address beside all addresses only for sockets that share their port.
      const isShared = reusePort || others.some((host) => host === '0.0.0.0')
      for (const [host, door] of open)
        if (!hosts.includes(host) || door.isShared !== isShared) {
          open.delete(host)
          door.server.close()
        }
      const missing: MissingAddress[] = []
      for (const host of hosts.filter((one) => !open.has(one)))
        try {
          open.set(host, await openDoor({ host, port }, isShared, accept))
        } catch (cause) {
          missing.push({ host, why: messageOf(cause) })
        }
      return missing
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...open.values()].map(({ server }) => closeServer(server)))
    },
  }
}

async function openDoor({ host, port }: Address, isShared: boolean, accept: Accept): Promise<Door> {
  const server = createServer(ofSockets, accept)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  // All IPv6 addresses do not include those of IPv4, which have a door of their own.
  const place = { host, port, ipv6Only: isIPv6(host) }
  server.listen({ ...place, backlog: BACKLOG, reusePort: isShared }, () => resolve())
  await promise
  server.off('error', reject)
  server.on('error', () => undefined)
  return { server, isShared }
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  await promise
}

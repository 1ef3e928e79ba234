import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import type { Address, MissingAddress } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'
import { addressText } from './address-text.ts'

/** The listening sockets of an endpoint: some ports at one or several addresses. */
export interface Doors extends AsyncDisposable {
  /**
   * Listens at exactly these ports of these addresses. Doors at unchanged ones stay open, and clients that
   * came through a closed door stay connected. Returns where it cannot listen.
   */
  listenAt(hosts: readonly string[], ports: readonly number[]): Promise<readonly MissingAddress[]>
}

interface Door {
  readonly server: Server
  readonly isShared: boolean
}

type Accept = (socket: Socket, port: number) => void

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
export async function openDoors(first: Address, reusePort: boolean, accept: Accept): Promise<Doors> {
  const open = new Map<string, Door>([[addressText(first), await openDoor(first, reusePort, accept)]])
  return {
    async listenAt(hosts, ports) {
      // The kernel allows one address beside all addresses only for sockets that share their port.
      const isShared = reusePort || hosts.slice(1).some((host) => host === '0.0.0.0')
      const wanted = new Map(
        ports.flatMap((port) => hosts.map((host) => [addressText({ host, port }), { host, port }] as const)),
      )
      for (const [text, door] of open)
        if (!wanted.has(text) || door.isShared !== isShared) {
          open.delete(text)
          door.server.close()
        }
      const missing: MissingAddress[] = []
      for (const [text, address] of wanted)
        try {
          if (!open.has(text)) open.set(text, await openDoor(address, isShared, accept))
        } catch (cause) {
          missing.push({ ...address, why: messageOf(cause) })
        }
      return missing
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...open.values()].map(({ server }) => closeServer(server)))
    },
  }
}

async function openDoor({ host, port }: Address, isShared: boolean, accept: Accept): Promise<Door> {
  const server = createServer(ofSockets, (socket) => accept(socket, port))
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

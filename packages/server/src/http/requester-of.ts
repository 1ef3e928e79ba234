import type { FastifyRequest } from 'fastify'
import type { Peer, Requester } from '../core/identity/access.ts'

/** One object per connection: facts about it (sources.ts) stay valid until it ends. */
const peers = new WeakMap<FastifyRequest['socket'], Peer>()

/** The sender of a request, by its connection. */
export function requesterOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): Requester {
  const peer = peers.get(socket) ?? peerOf(socket)
  return peer === undefined ? { address: ip } : { address: ip, peer }
}

function peerOf(socket: FastifyRequest['socket']): Peer | undefined {
  const { remotePort: port, localAddress: toAddress, localPort: toPort } = socket
  if (port === undefined || toAddress === undefined || toPort === undefined) return undefined
  const peer = { port, toAddress, toPort }
  peers.set(socket, peer)
  return peer
}

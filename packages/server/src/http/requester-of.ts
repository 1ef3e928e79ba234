import type { FastifyRequest } from 'fastify'
import type { Peer, Requester } from '../core/identity/access.ts'

/** One object for each connection: what was found out about a connection (sources.ts) stays valid until it ends. */
const peers = new WeakMap<FastifyRequest['socket'], Peer>()

/** The sender of this request, as far as its connection tells. */
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

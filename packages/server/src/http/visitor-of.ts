import type { FastifyRequest } from 'fastify'
import type { Visitor } from '../core/access.ts'

/** Who sends this request, as far as its connection says. */
export function visitorOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): Visitor {
  const { remotePort: port, localAddress: toAddress, localPort: toPort } = socket
  if (port === undefined || toAddress === undefined || toPort === undefined) return { address: ip }
  return { address: ip, peer: { port, toAddress, toPort } }
}

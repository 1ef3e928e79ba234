import { type Client, createClient, type proxyOperations } from '@fairlead/api'
import { AgentUnreachable } from './agent-link.ts'
import { socketTransport } from './socket-transport.ts'

/** The operations of the proxy of a node, each a function. */
export type ProxyLink = Client<typeof proxyOperations>

/** A proxy answers from memory; the longest is a hold, which has its own deadline of milliseconds. */
const ANSWER_WITHIN_MS = 5_000

/** The proxy of a node gave no answer: its agent starts it again, and clients come back to the same address. */
export class ProxyUnreachable extends AgentUnreachable {}

/** Speaks to the proxy behind a Unix socket. Throws ProxyUnreachable, or ApiError when the proxy declines. */
export function connectProxy(operations: typeof proxyOperations, socketPath: string): ProxyLink {
  const unreachable = (cause: Error) =>
    new ProxyUnreachable(`the endpoint does not answer: ${cause.message}`, { cause })
  return createClient(operations, socketTransport(socketPath, { withinMs: ANSWER_WITHIN_MS, unreachable }))
}

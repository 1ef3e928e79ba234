import { type Client, createClient, type Epoch, type proxyOperations } from '@fairlead/api'
import { AgentUnreachable, traceOrders, underEpoch, underOwnId } from './agent-link.ts'
import { checkAnswers } from './check-answers.ts'
import { socketTransport } from './socket-transport.ts'

/** The operations of the proxy of a node as functions. */
export type ProxyLink = Client<typeof proxyOperations>

/** A proxy answers from memory. Its longest operation is a hold, with a deadline of milliseconds. */
const ANSWER_WITHIN_MS = 5_000
/** A compromised proxy must not exhaust this process. Ten thousand endpoints need a third of this. */
const MOST_BYTES = 16 << 20

/** The proxy of a node did not answer. Its agent restarts it, and clients reconnect there. */
export class ProxyUnreachable extends AgentUnreachable {}

/**
 * Speaks to the proxy behind a Unix socket. Throws ProxyUnreachable, also for an invalid answer, ApiError if
 * the proxy declines, or StaleEpoch if `epoch` is no longer the highest.
 */
export function connectProxy(
  operations: typeof proxyOperations,
  socketPath: string,
  { epoch }: { readonly epoch?: Epoch } = {},
): ProxyLink {
  const unreachable = (cause: Error) =>
    new ProxyUnreachable(`the endpoint does not answer: ${cause.message}`, { cause })
  const bounds = { withinMs: ANSWER_WITHIN_MS, mostBytes: MOST_BYTES }
  const transport = socketTransport(socketPath, { ...bounds, unreachable })
  return checkAnswers(
    operations,
    createClient(operations, underEpoch(traceOrders('proxy', underOwnId(transport)), epoch)),
    unreachable,
  )
}

import { type Client, createClient, type Epoch, type proxyOperations } from '@fairlead/api'
import { AgentUnreachable, traceOrders, underEpoch, underOwnId } from './agent-link.ts'
import { checkAnswers } from './check-answers.ts'
import { socketTransport } from './socket-transport.ts'

/** The operations of the proxy of a node, each a function. */
export type ProxyLink = Client<typeof proxyOperations>

/** A proxy answers from memory; the longest is a hold, which has its own deadline of milliseconds. */
const ANSWER_WITHIN_MS = 5_000
/** Clients speak with it: where one has taken it over, it has no more of this process than that. Ten thousand endpoints take a third. */
const MOST_BYTES = 16 << 20

/** The proxy of a node gave no answer: its agent starts it again, and clients come back to the same address. */
export class ProxyUnreachable extends AgentUnreachable {}

/**
 * Speaks to the proxy behind a Unix socket, under an epoch if there is one. Throws ProxyUnreachable, also for what is not an answer to this question;
 * StaleEpoch; or ApiError when the proxy declines.
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

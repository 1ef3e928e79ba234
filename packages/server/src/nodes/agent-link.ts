import {
  ApiError,
  type agentOperations,
  type Client,
  createClient,
  EPOCH_HEADER,
  type Epoch,
  errors,
  printEpoch,
  type Transport,
} from '@fairlead/api'
import {
  currentPlace,
  currentTraceparent,
  inSpan,
  isTraced,
  readCarriedSpans,
  requestIdHeader,
} from '@fairlead/engine'
import { socketTransport } from './socket-transport.ts'

/** The operations of an agent. They throw AgentUnreachable without an answer. */
export type AgentLink = Client<typeof agentOperations>

/** The agent of a node did not answer. Its processes keep running. */
export class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable'
}

/** Another server now works on these databases; the order was not carried out. */
export class StaleEpoch extends AgentUnreachable {}

/** An agent answers from memory and disk, so a later answer will not come. */
const ANSWER_WITHIN_MS = 5_000
/** A trial waits in a queue and starts an engine. */
export const TRIAL_WITHIN_MS = 60_000
/** Longer: the agent answers when something changes. */
export const HEARING_WITHIN_MS = 30_000

/**
 * Speaks to the agent behind a Unix socket. Throws AgentUnreachable, ApiError if the agent declines, or
 * StaleEpoch if `epoch` is no longer the highest.
 */
export function connectAgent(
  operations: typeof agentOperations,
  socketPath: string,
  { withinMs = ANSWER_WITHIN_MS, epoch }: { readonly withinMs?: number; readonly epoch?: Epoch } = {},
): AgentLink {
  const unreachable = (cause: Error) =>
    new AgentUnreachable(`the agent does not answer: ${cause.message}`, { cause })
  const transport = socketTransport(socketPath, { withinMs, unreachable })
  return createClient(operations, underEpoch(traceOrders('agent', underOwnId(transport)), epoch))
}

/**
 * Makes each order a span of the current trace, if any, with the path (ids of shards and endpoints) but not
 * the body. The answer brings spans of the process that carried it out. The agent is also trusted with spans
 * of other traces, of work that took longer.
 */
export function traceOrders(to: 'agent' | 'proxy', transport: Transport): Transport {
  return (request) => {
    if (!isTraced()) return transport(request)
    const { method, path } = request
    return inSpan({ name: `${to} ${method} ${path.split('?')[0]}`, kind: 'client' }, async () => {
      const place = currentPlace()
      const traceparent = currentTraceparent()
      const headers = { ...request.headers, ...(traceparent !== undefined && { traceparent }) }
      const answer = await transport({ ...request, headers })
      for (const span of readCarriedSpans(answer.spans ?? ''))
        if (to === 'agent' || span.traceId === place?.traceId) place?.record(span)
      return answer
    })
  }
}

/** Adds the current request's id, for logs. */
export function underOwnId(transport: Transport): Transport {
  return (request) => transport({ ...request, headers: { ...request.headers, ...requestIdHeader() } })
}

/** Adds the epoch. Throws StaleEpoch if the answer refuses it. */
export function underEpoch(transport: Transport, epoch: Epoch | undefined): Transport {
  if (epoch === undefined) return transport
  return async (request) => {
    const headers = { ...request.headers, [EPOCH_HEADER]: printEpoch(epoch) }
    const answer = await transport({ ...request, headers })
    if (answer.status !== errors.stale_epoch.status) return answer
    throw new StaleEpoch(messageIn(answer.text))
  }
}

/** The message of any process's error answer, for people. */
function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly message?: unknown }).message).slice(0, LONGEST_MESSAGE)
  } catch {
    return 'another server works on these databases by now'
  }
}

const LONGEST_MESSAGE = 500

/** The agent declined: our request is at fault. */
export function isDeclined(cause: unknown): cause is ApiError {
  return cause instanceof ApiError
}

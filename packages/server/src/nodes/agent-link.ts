import { ApiError, type agentOperations, type Client, createClient } from '@fairlead/api'
import { socketTransport } from './socket-transport.ts'

/** The operations of an agent, each a function; it throws AgentUnreachable when no answer comes. */
export type AgentLink = Client<typeof agentOperations>

/** The agent of a node gave no answer. What it supervises is not disturbed by that. */
export class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable'
}

/** An agent answers from memory and disk; an answer that takes longer will not come. */
const ANSWER_WITHIN_MS = 5_000
/** But for a trial: it starts an engine, and waits its turn. */
export const TRIAL_WITHIN_MS = 60_000

/** Speaks to the agent behind a Unix socket. Throws AgentUnreachable, or ApiError when the agent declines. */
export function connectAgent(
  operations: typeof agentOperations,
  socketPath: string,
  withinMs: number = ANSWER_WITHIN_MS,
): AgentLink {
  const unreachable = (cause: Error) =>
    new AgentUnreachable(`the agent does not answer: ${cause.message}`, { cause })
  return createClient(operations, socketTransport(socketPath, { withinMs, unreachable }))
}

/** The agent understood and declined: a fault in what we sent, not in the world. */
export function isDeclined(cause: unknown): cause is ApiError {
  return cause instanceof ApiError
}

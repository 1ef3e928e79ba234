import { request } from 'node:http'
import { ApiError, type agentOperations, type Client, createClient, type Transport } from '@fairlead/api'

export type AgentLink = Client<typeof agentOperations>

/** The agent of a node gave no answer. What it supervises is not disturbed by that. */
export class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable'
}

/** An agent answers from memory and disk; an answer that takes longer will not come. */
const ANSWER_WITHIN_MS = 5_000

/** Speaks to the agent behind a Unix socket. Throws AgentUnreachable, or ApiError when the agent declines. */
export function connectAgent(operations: typeof agentOperations, socketPath: string): AgentLink {
  return createClient(operations, socketTransport(socketPath))
}

function socketTransport(socketPath: string): Transport {
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const fail = (cause: Error) =>
        reject(new AgentUnreachable(`the agent does not answer: ${cause.message}`, { cause }))
      const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS)
      const sent = request(
        {
          socketPath,
          method,
          path,
          headers,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', fail)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      sent.on('error', fail)
      sent.end(body)
    })
}

/** The agent understood and declined: a fault in what we sent, not in the world. */
export function isDeclined(cause: unknown): cause is ApiError {
  return cause instanceof ApiError
}

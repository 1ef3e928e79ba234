import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  ApiError,
  EPOCH_HEADER,
  type Epoch,
  type ErrorCode,
  LIFE_HEADER,
  printEpoch,
  TUNNEL_PROTOCOL,
  tunnelPath,
} from '@fairlead/api'
import { EngineUnreachable, messageOf } from '@fairlead/engine'
import { AgentUnreachable, StaleEpoch } from './agent-link.ts'

/** A connection to a shard's engine, through its agent. */
export interface Tunnel {
  /** The agent has signed in to the engine. */
  readonly socket: Socket
  /** Life of the agent that opened it. */
  readonly life: string
}

/** The agent allows 500 ms for the engine's login. */
const ANSWER_WITHIN_MS = 2_500

/**
 * Asks the agent for a tunnel to the engine of a shard (engine-tunnel.ts of the API). Throws
 * EngineUnreachable if the engine does not answer, StaleEpoch, ApiError, and AgentUnreachable if the agent
 * does not answer or is too old for tunnels.
 */
export function openTunnel(agentSocket: string, shard: string, epoch: Epoch): Promise<Tunnel> {
  return upgrade(agentSocket, { path: tunnelPath(shard), protocol: TUNNEL_PROTOCOL }, epoch)
}

/** Asks the agent for a connection of another protocol. Throws like openTunnel. */
export function upgrade(
  agentSocket: string,
  { path, protocol }: { readonly path: string; readonly protocol: string },
  epoch: Epoch,
): Promise<Tunnel> {
  const { promise, resolve, reject } = Promise.withResolvers<Tunnel>()
  const headers = { connection: 'Upgrade', upgrade: protocol, [EPOCH_HEADER]: printEpoch(epoch) }
  const asked = request({ socketPath: agentSocket, method: 'POST', path, headers, agent: false })
  const late = setTimeout(
    () => asked.destroy(new Error(`no tunnel within ${ANSWER_WITHIN_MS} ms`)),
    ANSWER_WITHIN_MS,
  )
  asked.on('upgrade', (response, stream, head) => {
    clearTimeout(late)
    // http passes the socket that it opened.
    const socket = stream as Socket
    // http no longer handles errors, and the owner does not yet: an agent's death must not end this process.
    socket.on('error', () => undefined)
    if (head.length > 0) socket.unshift(head)
    resolve({ socket, life: String(response.headers[LIFE_HEADER]) })
  })
  asked.on('response', (response) => {
    refusalOf(response)
      .then(reject, (cause: unknown) => reject(unreachable(cause)))
      .finally(() => clearTimeout(late))
  })
  asked.on('error', (cause) => {
    clearTimeout(late)
    reject(unreachable(cause))
  })
  asked.end()
  return promise
}

function unreachable(cause: unknown): AgentUnreachable {
  return new AgentUnreachable(`the agent does not answer: ${messageOf(cause)}`, { cause })
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  const { error_code: code, message } = JSON.parse(await text(response)) as {
    error_code: ErrorCode
    message: string
  }
  if (code === 'unavailable') return new EngineUnreachable(message)
  if (code === 'stale_epoch') return new StaleEpoch(message)
  if (code === 'not_found')
    return new AgentUnreachable('the agent is of an older version, and has to be started again')
  return new ApiError(response.statusCode ?? 0, code, message)
}

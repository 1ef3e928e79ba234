import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  EPOCH_HEADER,
  type EpochFence,
  LIFE_HEADER,
  MOVE_PATH,
  MOVE_PROTOCOL,
  Refusal,
  readEpoch,
  shardOfTunnel,
  TUNNEL_PROTOCOL,
} from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { type MoveParts, type OnEffect, serveMove } from './serve-move.ts'
import type { Tunnels } from './tunnels.ts'
import type { LifeWatch } from './watch-life.ts'

/** Parts for checking and answering a tunnel's request. */
export interface TunnelParts {
  readonly fence: EpochFence
  readonly tunnels: Tunnels
  readonly life: LifeWatch
  readonly logger: Logger
  readonly onEffect?: OnEffect | undefined
}

/**
 * Serves requests for tunnels and moves (engine-tunnel.ts and engine-move.ts of the API) on an HTTP server
 * without other upgrades.
 */
export function serveTunnels(server: Server, parts: TunnelParts & Pick<MoveParts, 'spans'>): void {
  // A Node server's stream is a socket.
  server.on('upgrade', (request, stream, head) => void take(request, stream as Socket, head, parts))
}

/** Never rejects. */
async function take(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { fence, tunnels, life, logger, spans, onEffect }: TunnelParts & Pick<MoveParts, 'spans'>,
): Promise<void> {
  socket.on('error', () => undefined)
  try {
    life.look()
    const shard = readGoal(request)
    const header = request.headers[EPOCH_HEADER]
    if (typeof header !== 'string')
      throw new Refusal('invalid_request', 'a tunnel needs the header Fairlead-Epoch')
    const epoch = readEpoch(header)
    await fence.admit(epoch)
    if (head.length > 0) socket.unshift(head)
    const accept = () => {
      const upgrade = `connection: Upgrade\r\nupgrade: ${request.headers.upgrade}\r\n${LIFE_HEADER}: ${life.life}`
      socket.write(`HTTP/1.1 101 ${STATUS_CODES[101]}\r\n${upgrade}\r\n\r\n`)
    }
    if (shard !== null) return await tunnels.open({ shard, epoch }, socket, accept)
    accept()
    logger.info({ url: request.url }, 'an order')
    await serveMove(socket, epoch, { tunnels, look: life.look, spans, fence, onEffect })
  } catch (cause) {
    const refusal = cause instanceof Refusal ? cause : new Refusal('internal_error', messageOf(cause))
    if (refusal.code === 'internal_error') logger.error({ err: cause }, 'a tunnel could not be opened')
    refuse(socket, refusal)
  }
}

/** Returns the shard of a tunnel; null for a move. Throws a Refusal for any other request. */
function readGoal({ method, url = '', headers }: IncomingMessage): string | null {
  const shard = shardOfTunnel(url)
  if (method === 'POST' && shard !== undefined && headers.upgrade === TUNNEL_PROTOCOL) return shard
  if (method === 'POST' && url === MOVE_PATH && headers.upgrade === MOVE_PROTOCOL) return null
  throw new Refusal('not_found', `there is no ${method} ${url} with an upgrade to ${headers.upgrade} here`)
}

function refuse(socket: Socket, { status, code, message }: Refusal): void {
  const body = JSON.stringify({ error_code: code, message })
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n\r\n${body}`, () =>
    socket.destroySoon(),
  )
}

import { request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { EPOCH_HEADER, LIFE_HEADER, TUNNEL_PROTOCOL, tunnelPath } from '@fairlead/api'
import { connectOver, type EngineConnection } from '@fairlead/engine'
import { until } from '../../../proof/until.ts'

/** A tunnel to the engine of a shard, as a server uses it; or why there is none. */
export type Dialled =
  | { readonly engine: EngineConnection; readonly socket: Socket; readonly life: string }
  | { readonly status: number; readonly code: string; readonly message: string }

/**
 * Asks an agent for a tunnel, with this header (`<bucket>:<epoch>`) or without. `answersWithinMs` is for the
 * engine.
 */
export function dialTunnel(
  socketPath: string,
  shard: string,
  epoch?: string,
  answersWithinMs = 20_000,
): Promise<Dialled> {
  const { promise, resolve, reject } = Promise.withResolvers<Dialled>()
  const upgrade = { connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL }
  const headers = epoch === undefined ? upgrade : { ...upgrade, [EPOCH_HEADER]: epoch }
  const asked = request({ socketPath, method: 'POST', path: tunnelPath(shard), headers, agent: false })
  asked.on('upgrade', (response, stream) => {
    const socket = stream as Socket
    const engine = connectOver(socket, {
      address: { host: shard, port: 0 },
      commandTimeoutMs: answersWithinMs,
    })
    resolve({ engine, socket, life: String(response.headers[LIFE_HEADER]) })
  })
  asked.on('response', (response) => {
    const tell = (body: string) => {
      const { error_code: code, message } = JSON.parse(body) as { error_code: string; message: string }
      resolve({ status: response.statusCode ?? 0, code, message })
    }
    text(response)
      .then(tell)
      .catch((cause: unknown) => reject(cause))
  })
  asked.on('error', reject)
  asked.end()
  return promise
}

/**
 * The same, until there is one: an agent gives an engine half a second for the login, and one that has
 * stalled cuts what it was opening, both of which a machine under load brings about. Throws when it is
 * refused for another reason.
 */
export async function mustDial(socketPath: string, shard: string, epoch: string, answersWithinMs?: number) {
  return await until('the engine answers its agent', async () => {
    const dialled = await dialTunnel(socketPath, shard, epoch, answersWithinMs)
    if ('engine' in dialled) return dialled
    if (dialled.status === 503 || dialled.message.includes('was cut before it was open')) return null
    throw new Error(`no tunnel: ${JSON.stringify(dialled)}`)
  })
}

import { request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { EPOCH_HEADER, LIFE_HEADER, TUNNEL_PROTOCOL, tunnelPath } from '@fairlead/api'
import { connectOver, type EngineConnection } from '@fairlead/engine'

/** A tunnel to the engine of a shard, as a server uses it; or why there is none. */
export type Dialled =
  | { readonly engine: EngineConnection; readonly socket: Socket; readonly life: string }
  | { readonly status: number; readonly code: string; readonly message: string }

/** Asks an agent for a tunnel, with this header (`<bucket>:<epoch>`) or without. */
export function dialTunnel(socketPath: string, shard: string, epoch?: string): Promise<Dialled> {
  const { promise, resolve, reject } = Promise.withResolvers<Dialled>()
  const upgrade = { connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL }
  const headers = epoch === undefined ? upgrade : { ...upgrade, [EPOCH_HEADER]: epoch }
  const asked = request({ socketPath, method: 'POST', path: tunnelPath(shard), headers, agent: false })
  asked.on('upgrade', (response, stream) => {
    const socket = stream as Socket
    const engine = connectOver(socket, { address: { host: shard, port: 0 } })
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

/** The same; throws when there is no tunnel. */
export async function mustDial(socketPath: string, shard: string, epoch: string) {
  const dialled = await dialTunnel(socketPath, shard, epoch)
  if ('engine' in dialled) return dialled
  throw new Error(`no tunnel: ${JSON.stringify(dialled)}`)
}

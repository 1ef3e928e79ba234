import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EngineAddress, EngineTls } from './engine-address.ts'

/**
 * Opens a connected socket, with TLS if `tls` is given. Throws the failure; an abort leaves nothing open. It
 * may already be closed (`destroyed`) when returned, and unhandled errors end no process: an ending shard
 * resets its connections, even while a caller still checks the listener's user.
 */
export async function openSocket(
  { host, port }: EngineAddress,
  tls: EngineTls | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted()
  const socket = tls === undefined ? connect({ host, port }) : connectTls({ host, port, ...tlsOptions(tls) })
  socket.on('error', () => undefined)
  try {
    // Commands are short and urgent.
    socket.setNoDelay(true)
    await once(socket, tls === undefined ? 'connect' : 'secureConnect', { signal })
    return socket
  } catch (cause) {
    socket.destroy()
    throw cause
  }
}

function tlsOptions({ ca, checksHost }: EngineTls) {
  const trust = { ca: [...ca], allowPartialTrustChain: true, minVersion: 'TLSv1.2' as const }
  return { ...trust, ...(!checksHost && { checkServerIdentity: () => undefined }) }
}

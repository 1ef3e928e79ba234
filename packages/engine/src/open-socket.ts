import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EngineAddress, EngineTls } from './engine-address.ts'

/**
 * A socket that is connected, and over which TLS is agreed on where `tls` is given. Throws why not; aborted, nothing stays open.
 * It can be closed already when its owner gets it, and says so by `destroyed` or its event `close`. An error that nothing listens for ends
 * no process: a shard that is being ended resets its connections, also those of a caller that is still proving which user listens there.
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
    // Commands are short, and waited for.
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

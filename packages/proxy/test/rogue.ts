import { once } from 'node:events'
import { createServer } from 'node:net'

/** A listener that is not an engine of ours: it must receive nothing. */
export interface Rogue extends AsyncDisposable {
  readonly port: number
  /** The bytes of each connection that it accepted. */
  readonly came: string[]
}

export async function openRogue(): Promise<Rogue> {
  const came: string[] = []
  const server = createServer((socket) => {
    const at = came.push('') - 1
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      came[at] += bytes.toString('latin1')
      // Answers as an engine that accepts everything.
      socket.write('+OK\r\n')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    came,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

/**
 * Errors of engines about slots, roles and logins, which a script can return as well. `others`: the ports to
 * which they redirect.
 */
export function wordsOfEngines(slot: number, others: readonly number[]): readonly string[] {
  return [
    ...others.flatMap((port) => [
      `MOVED ${slot} 127.0.0.1:${port}`,
      `MOVED 16000 127.0.0.1:${port}`,
      `ASK ${slot} 127.0.0.1:${port}`,
      `REDIRECT 127.0.0.1:${port}`,
    ]),
    'MOVED x y',
    'CLUSTERDOWN The cluster is down',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'LOADING the dataset is in memory soon',
    'NOAUTH Authentication required.',
    'READONLY You cannot write against a replica.',
    'MASTERDOWN Link with the primary is down',
    'UNBLOCKED force unblock from blocking operation, instance state changed',
    'NOSCRIPT No matching script',
    'EXECABORT Transaction discarded',
  ]
}

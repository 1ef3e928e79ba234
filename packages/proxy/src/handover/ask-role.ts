import { compareVersions, encodeCommand } from '@fairlead/engine'
import { connectOnce, type Place } from './open-link.ts'

/**
 * What an engine says it is. `stopped`: a primary that refuses writes for want of replicas, as an old redis
 * is told to while its role moves. `silent`: it takes connections, or did, and does not answer in time.
 * `unknown`: it cannot be reached, or does not tell this client.
 */
export type Role = 'primary' | 'stopped' | 'replica' | 'silent' | 'unknown'

/** A stalled engine says nothing for much longer; a busy one answers within this. */
const ANSWER_MS = 500
/** What HELLO says is some 200 bytes; another engine may say more. */
const MOST_BYTES = 4_096
/** From here on writes wait while a role moves, and are not refused (CLIENT PAUSE … WRITE). */
const PAUSES_WRITES = '6.2'

/**
 * Asks `target` for its role, on a connection of its own, logged in as a client (`login`: AUTH's arguments). HELLO says it to every
 * user that may connect; ROLE and INFO only to administrators.
 */
export async function askRole(target: Place, login: readonly Buffer[] | null): Promise<Role> {
  const { promise, resolve } = Promise.withResolvers<Role>()
  let heard = ''
  let read: (heard: string) => Role | 'old primary' | undefined = readRole
  const timer = setTimeout(() => resolve('silent'), ANSWER_MS)
  try {
    const socket = await connectOnce(target, performance.now() + ANSWER_MS, (bytes) => {
      heard += bytes.toString('latin1')
      const said = heard.length > MOST_BYTES ? 'unknown' : read(heard)
      if (said !== 'old primary') return said && resolve(said)
      ;[read, heard] = [readWhetherStopped, '']
      socket.write(Buffer.concat([encodeCommand(WRITES_NOTHING), encodeCommand(['PING'])]))
    })
    socket.on('close', () => resolve('unknown'))
    const words = [
      ...(login === null ? [] : [encodeCommand(['AUTH', ...login])]),
      encodeCommand(['HELLO', '2']),
    ]
    socket.write(Buffer.concat(words))
    const role = await promise
    socket.destroy()
    return role
  } catch {
    return 'unknown'
  } finally {
    clearTimeout(timer)
  }
}

function readRole(heard: string): Role | 'old primary' | undefined {
  const [, word] = /\r\nrole\r\n\$\d+\r\n(\w+)\r\n/.exec(heard) ?? []
  if (word === undefined) return /^-|\r\n-/.test(heard) ? 'unknown' : undefined
  if (word !== 'master') return 'replica'
  const [, version = ''] = /\r\nredis\r\n\$7\r\nversion\r\n\$\d+\r\n([\d.]+)\r\n/.exec(heard) ?? []
  return version !== '' && compareVersions(version, PAUSES_WRITES) < 0 ? 'old primary' : 'primary'
}

/** To these versions it is a write, and so is refused where writes are; and all that it does is to answer. It names no key. */
const WRITES_NOTHING = ['XGROUP', 'HELP']

/** A client that may not ask this may write, or not: then it is as with any other primary. */
function readWhetherStopped(heard: string): Role | undefined {
  if (/(^|\n)-NOREPLICAS /.test(heard)) return 'stopped'
  return heard.includes('+PONG\r\n') || /(^|\n)-NOAUTH /.test(heard) ? 'primary' : undefined
}

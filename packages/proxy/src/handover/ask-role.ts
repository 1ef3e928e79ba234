import { compareVersions, encodeCommand } from '@fairlead/engine'
import { connectOnce, NotInTime, type Place } from './open-link.ts'

/**
 * Role reported by an engine.
 * - `stopped`: a primary that refuses writes for lack of replicas, as an old Redis is configured while its
 *   role moves.
 * - `silent`: no answer, or no connection, in time.
 * - `unknown`: unreachable, or it refuses to answer this client.
 */
export type Role = 'primary' | 'stopped' | 'replica' | 'silent' | 'unknown'

/** A stalled engine is silent for much longer; a busy one answers in time. */
const ANSWER_MS = 500
/** The answer to HELLO has some 200 bytes; another engine may send more. */
const MOST_BYTES = 4_096
/** From this version, writes wait while a role moves and are not refused (CLIENT PAUSE … WRITE). */
const PAUSES_WRITES = '6.2'

/**
 * Asks `target` for its role on a separate connection with a client's `login` (AUTH's arguments). HELLO
 * reports the role to every user, ROLE and INFO only to administrators.
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
  } catch (cause) {
    return cause instanceof NotInTime ? 'silent' : 'unknown'
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

/** A write for these versions, refused whenever writes are; it only answers and names no key. */
const WRITES_NOTHING = ['XGROUP', 'HELP']

/** A client without the right to this command cannot find out: the engine counts as primary. */
function readWhetherStopped(heard: string): Role | undefined {
  if (/(^|\n)-NOREPLICAS /.test(heard)) return 'stopped'
  return heard.includes('+PONG\r\n') || /(^|\n)-NOAUTH /.test(heard) ? 'primary' : undefined
}

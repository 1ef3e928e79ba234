import { encodeCommand } from '@fairlead/engine'
import { connectOnce, type Target } from './open-link.ts'

/**
 * What an engine says it is. `silent`: it takes connections, or did, and says nothing in time. `unknown`: it cannot be
 * reached, or does not tell who asks.
 */
export type Role = 'primary' | 'replica' | 'silent' | 'unknown'

/** A stalled engine says nothing for much longer; a busy one answers within this. */
const ANSWER_MS = 500
/** What HELLO says is some 200 bytes; another engine may say more. */
const MOST_BYTES = 4_096

/**
 * Asks `target` for its role, on a connection of its own, logged in as a client (`login`: AUTH's arguments). HELLO says it to every
 * user that may connect; ROLE and INFO only to administrators.
 */
export async function askRole(target: Target, login: readonly Buffer[] | null): Promise<Role> {
  const { promise, resolve } = Promise.withResolvers<Role>()
  let heard = ''
  const take = (bytes: Buffer) => {
    heard += bytes.toString('latin1')
    const [, word] = /\r\nrole\r\n\$\d+\r\n(\w+)\r\n/.exec(heard) ?? []
    if (word !== undefined) resolve(word === 'master' ? 'primary' : 'replica')
    else if (/^-|\r\n-/.test(heard) || heard.length > MOST_BYTES) resolve('unknown')
  }
  const timer = setTimeout(() => resolve('silent'), ANSWER_MS)
  try {
    const socket = await connectOnce(target, performance.now() + ANSWER_MS, take)
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

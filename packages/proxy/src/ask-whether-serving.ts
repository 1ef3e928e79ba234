import { encodeCommand } from '@fairlead/engine'
import { connectOnce, type Place } from './open-link.ts'

const ANSWER_MS = 500
const MOST_BYTES = 4_096

/** Paused with writes, and refused while another script runs: an engine that answers this keeps no client waiting. It names no key. */
const SCRIPT = encodeCommand(['EVAL', 'return 1', '0'])
const PING = encodeCommand(['PING'])

/**
 * Whether an engine answers clients just now, reads and writes: asked on a connection of its own, logged in as a client (`login`: AUTH's
 * arguments). False also where that cannot be told.
 */
export async function askWhetherServing(target: Place, login: readonly Buffer[] | null): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ANSWER_MS)
  const awaited = login === null ? 2 : 3
  let heard = ''
  try {
    const socket = await connectOnce(target, performance.now() + ANSWER_MS, (bytes) => {
      heard += bytes.toString('latin1')
      const lines = heard.split('\r\n')
      if (lines.length > awaited) resolve(isServing(lines.slice(awaited - 2)))
      else if (heard.length > MOST_BYTES) resolve(false)
    })
    socket.on('close', () => resolve(false))
    const signIn = login === null ? [] : [encodeCommand(['AUTH', ...login])]
    socket.write(Buffer.concat([...signIn, SCRIPT, PING]))
    const answer = await promise
    socket.destroy()
    return answer
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

/** Each of the answers is one line. A client that may run no scripts is answered all the same. */
function isServing([script = '', ping]: readonly string[]): boolean {
  return ping === '+PONG' && (script === ':1' || script.startsWith('-NOPERM'))
}

import { encodeCommand } from '@fairlead/engine'
import { connectOnce, type Place } from './open-link.ts'

const ANSWER_MS = 1_000
const MOST_BYTES = 4_096
const PING = encodeCommand(['PING'])
/** What an engine says to a connection for which it has no place. */
const NO_PLACE = '-ERR max number of clients'

/**
 * Why an engine takes no new client now, in words; null when it does. Asked on a connection of its own, which the engine has to accept and to answer,
 * with whatever: an engine without files left lets the kernel take connections that it never sees.
 */
export async function whyUnreachable(place: Place): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const at = `${place.host}:${place.port}`
  const timer = setTimeout(() => resolve(`${at} does not answer a new connection`), ANSWER_MS)
  let heard = ''
  try {
    const socket = await connectOnce(place, performance.now() + ANSWER_MS, (bytes) => {
      heard += bytes.toString('latin1')
      const end = heard.indexOf('\r\n')
      if (end === -1 && heard.length <= MOST_BYTES) return
      resolve(heard.startsWith(NO_PLACE) ? `${at} says: ${heard.slice(1, end)}` : null)
    })
    socket.on('close', () => resolve(`${at} closed the connection`))
    socket.write(PING)
    const why = await promise
    socket.destroy()
    return why
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  } finally {
    clearTimeout(timer)
  }
}

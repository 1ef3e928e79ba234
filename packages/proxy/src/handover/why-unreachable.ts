import { encodeCommand, messageOf } from '@fairlead/engine'
import { askOnce } from './ask-once.ts'
import type { Place } from './open-link.ts'

const ANSWER_MS = 1_000
const PING = encodeCommand(['PING'])
/** Error of an engine without room for another connection. */
const NO_PLACE = '-ERR max number of clients'

/**
 * Returns why an engine accepts no new client, or undefined. It must answer on a new connection, with any
 * text: without free file descriptors the kernel still accepts connections that the engine never sees.
 */
export async function whyUnreachable(place: Place): Promise<string | undefined> {
  try {
    const [answer = ''] = await askOnce(place, PING, { wanted: 1, withinMs: ANSWER_MS })
    return answer.startsWith(NO_PLACE) ? `${place.host}:${place.port} says: ${answer.slice(1)}` : undefined
  } catch (cause) {
    return messageOf(cause)
  }
}

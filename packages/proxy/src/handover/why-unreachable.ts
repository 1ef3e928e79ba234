import { encodeCommand, messageOf } from '@fairlead/engine'
import { askOnce } from './ask-once.ts'
import type { Place } from './open-link.ts'

const ANSWER_MS = 1_000
const PING = encodeCommand(['PING'])
/** The error of an engine that has no place for another connection. */
const NO_PLACE = '-ERR max number of clients'

/**
 * Why an engine accepts no new client now, as a sentence; undefined when it does. It is asked on a connection of its own, which
 * the engine has to accept and to answer, with any text: if an engine has no file descriptors left, the kernel still accepts
 * connections, which the engine never sees.
 */
export async function whyUnreachable(place: Place): Promise<string | undefined> {
  try {
    const [answer = ''] = await askOnce(place, PING, { wanted: 1, withinMs: ANSWER_MS })
    return answer.startsWith(NO_PLACE) ? `${place.host}:${place.port} says: ${answer.slice(1)}` : undefined
  } catch (cause) {
    return messageOf(cause)
  }
}

import {
  createReplyScanner,
  encodeCommand,
  isReplyError,
  parseReply,
  readClusterNodes,
  scanReply,
} from '@fairlead/engine'
import { connectOnce, type Place } from '../handover/open-link.ts'
import type { SlotView } from './slot-view.ts'

/** Deadline of an answer: an engine that serves answers immediately. */
export const ANSWER_MS = 500
/** Longest answer: for the largest possible cluster it has some 100 KB. */
const MOST_BYTES = 1024 * 1024

/**
 * Asks the engine at `target` for the owners of slots (CLUSTER NODES), on a separate connection that carries
 * no text of clients. `login`: AUTH's arguments of a client, or null. Throws if there is no answer in time,
 * or an error, for example for a missing right.
 */
export async function askSlots(target: Place, login: readonly Buffer[] | null): Promise<SlotView> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  // The deadline may pass while connecting: the unhandled rejection would end the process.
  promise.catch(() => undefined)
  const replies = createReplyScanner()
  let heard = Buffer.alloc(0)
  let isLoggedIn = login === null
  let begin = 0
  const take = (bytes: Buffer): void => {
    const before = heard.length
    heard = Buffer.concat([heard, bytes])
    if (heard.length > MOST_BYTES) reject(new Error('the engine sends a longer answer than possible'))
    for (let end = scanReply(replies, bytes, 0); end >= 0; end = scanReply(replies, bytes, end)) {
      // The answer to AUTH does not matter: without a login, an error replaces the list.
      if (isLoggedIn) resolve(heard.subarray(begin, before + end))
      isLoggedIn = true
      begin = before + end
    }
    if (replies.error !== undefined) reject(new Error(`its reply was not understood: ${replies.error}`))
  }
  const timer = setTimeout(() => reject(new Error('the engine gave no answer in time')), ANSWER_MS)
  try {
    const socket = await connectOnce(target, performance.now() + ANSWER_MS, take)
    try {
      socket.on('close', () => reject(new Error('the engine closed the connection')))
      if (login !== null) socket.write(encodeCommand(['AUTH', ...login]))
      socket.write(encodeCommand(['CLUSTER', 'NODES']))
      const answer = parseReply(await promise)
      if (typeof answer !== 'string')
        throw new Error(isReplyError(answer) ? answer.error : 'no list of nodes')
      return { asked: { host: target.host, port: target.port }, nodes: readClusterNodes(answer) }
    } finally {
      socket.destroy()
    }
  } finally {
    clearTimeout(timer)
  }
}

import type { HoldResult } from '@fairlead/api'
import { isBetweenRequests } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import { isHeldUpByClient, noticeQuiet } from './move-connection.ts'

/**
 * Who forwards that much in the time of a drain is in the middle of a long value, of which nothing is kept here: it is to
 * end where it began. More than engines take from who has not logged in: a stranger cannot hold up a handover.
 */
const LONG_REQUEST_BYTES = 64 * 1024

/** How long everybody waits for clients that do not read what they asked for. Most only did not read at this very moment. */
const READERS_MS = 50

/** The time in which an endpoint forwards nothing new. */
export interface Hold {
  /** From now on so many milliseconds until it is given up. */
  renew(deadlineMs: number): void
  /** A connection has changed: perhaps all are quiet now. */
  look(): void
  /** Waits until nothing is under way on any connection, but for clients that hold up only themselves. */
  drained(withinMs: number): Promise<HoldResult>
  /** Over. How long it took, in milliseconds. */
  end(): number
}

export function createHold(connections: ReadonlySet<Connection>, giveUp: () => void): Hold {
  const began = performance.now()
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<void>()
  let isOver = false
  let waiting: (() => void)[] = []
  let waitsForReaders = true
  let deadline: NodeJS.Timeout | undefined
  const busy = () => [...connections].filter((each) => each.mode !== 'opening' && !noticeQuiet(each))
  const ms = () => Math.round((performance.now() - began) * 100) / 100

  const look = () => {
    if (waiting.length === 0 || busy().some((each) => waitsForReaders || !isUnread(each))) return
    for (const tell of waiting) tell()
    waiting = []
  }
  const waitNoMoreForReaders = () => {
    waitsForReaders = false
    look()
  }

  return {
    renew(deadlineMs) {
      clearTimeout(deadline)
      deadline = setTimeout(giveUp, deadlineMs)
    },
    look,
    async drained(withinMs) {
      const before = new Map(busy().map((each) => [each, forwardedBytes(each)]))
      if (before.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        const end = setTimeout(resolve, withinMs)
        // Again and again: who stops reading later tells nobody.
        const readers = setInterval(waitNoMoreForReaders, READERS_MS)
        await Promise.race([promise, ended])
        clearTimeout(end)
        clearInterval(readers)
      }
      const left = busy()
      const why = isOver ? 'the hold has ended' : whyNotDrained(left, before)
      return { drained: why === '', ms: ms(), why, late: left.length }
    },
    end() {
      clearTimeout(deadline)
      isOver = true
      tellEnded()
      return ms()
    },
  }
}

/** Empty when only clients stand in the way, and only in their own. `before`: what each had forwarded. */
function whyNotDrained(left: readonly Connection[], before: ReadonlyMap<Connection, number>): string {
  const unanswered = left.filter((each) => !isHeldUpByClient(each))
  if (unanswered.length > 0) return `${unanswered.length} connection(s) wait for replies of the engine`
  const isSending = (each: Connection) =>
    !isBetweenRequests(each.requests) && forwardedBytes(each) - (before.get(each) ?? 0) >= LONG_REQUEST_BYTES
  const sending = left.filter(isSending)
  return sending.length > 0 ? `${sending.length} connection(s) are in the middle of a long request` : ''
}

function forwardedBytes({ link }: Connection): number {
  return link?.socket.bytesWritten ?? 0
}

/** All that is missing is that its client reads. */
function isUnread({ client, requests }: Connection): boolean {
  return client.writableNeedDrain && isBetweenRequests(requests)
}

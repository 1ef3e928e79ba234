import type { HoldResult } from '@fairlead/api'
import type { Connection } from './connection.ts'
import { isHeldUpByClient, noticeQuiet } from './move-connection.ts'

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
  let deadline: NodeJS.Timeout | undefined
  const busy = () => [...connections].filter((each) => each.mode !== 'opening' && !noticeQuiet(each))
  const ms = () => Math.round((performance.now() - began) * 100) / 100

  return {
    renew(deadlineMs) {
      clearTimeout(deadline)
      deadline = setTimeout(giveUp, deadlineMs)
    },
    look() {
      if (waiting.length === 0 || busy().length > 0) return
      for (const tell of waiting) tell()
      waiting = []
    },
    async drained(withinMs) {
      if (busy().length > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        const timer = setTimeout(resolve, withinMs)
        await Promise.race([promise, ended])
        clearTimeout(timer)
      }
      const left = busy()
      const unanswered = left.filter((each) => !isHeldUpByClient(each)).length
      const reason = isOver
        ? 'the hold has ended'
        : `${unanswered} connection(s) wait for replies of the engine`
      const drained = unanswered === 0 && !isOver
      const why = drained ? '' : reason
      return { drained, ms: ms(), why, late: left.length }
    },
    end() {
      clearTimeout(deadline)
      isOver = true
      tellEnded()
      return ms()
    },
  }
}

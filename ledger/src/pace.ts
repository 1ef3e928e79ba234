/** How many commands may be sent by now. */
export interface Pace {
  /** Whole commands that are due at `nowMs`; Infinity when there is no limit. */
  due(nowMs: number): number
  /** A command was sent. */
  take(): void
  /** A command that was sent was refused: it is due again. */
  giveBack(): void
}

/**
 * After a stall, commands of this time are sent at once. More would measure a burst instead of the requested
 * load.
 */
const CATCH_UP_MS = 50

/** A steady pace of `perSecond` commands from `startMs` on; 0 is as fast as possible. */
export function createPace(perSecond: number, startMs: number): Pace {
  if (perSecond === 0)
    return { due: () => Number.POSITIVE_INFINITY, take: () => undefined, giveBack: () => undefined }
  // At a low pace one command must still fit, or nothing would ever be due.
  const most = Math.max(1, (perSecond * CATCH_UP_MS) / 1000)
  let credit = 0
  let lastMs = startMs
  return {
    due(nowMs) {
      credit = Math.min(most, credit + ((nowMs - lastMs) * perSecond) / 1000)
      lastMs = nowMs
      return Math.max(0, Math.floor(credit))
    },
    take() {
      credit -= 1
    },
    giveBack() {
      credit += 1
    },
  }
}

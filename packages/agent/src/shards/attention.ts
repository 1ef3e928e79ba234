import type { Stream } from '../engine/watch-engine.ts'

/** How closely a shard is looked at: one that runs and does not change costs little; one that the server asks for is looked at often. */
export interface Attention {
  /** The server asks for it. True: it works on it, and the last look is too old for that. */
  ask(): boolean
  /** The connection to its engine has ended: it may have died. True: look now. False: that was so a moment ago, and the next look is soon enough. */
  ended(): boolean
  /** A look begins, at a shard that is as it was before and well, or not. True: it is to be a thorough one, with disk and log. */
  look(isSettled: boolean): boolean
  /** How long to rest after it, where `restMs` would do otherwise. */
  pauseMs(restMs: number): number
  /** The stream, where it has grown by writes since this was asked last; null where it has not. */
  grown(stream: Stream | null): Omit<Stream, 'writes'> | null
}

/** How long this lasts after the server has asked twice within that time. One question alone is that of the safety net, for which a look a second is enough. */
const ASKED_FOR_MS = 2_000
const ASKED_MS = 250
/** An engine may end its connections as fast as they are opened: this must not make the agent's loop spin. */
const ENDED_MS = 500
/** After the last change a save may still be on its way to the disk, and its words to the log. */
const CHANGED_FOR_MS = 3_000
/** Otherwise disk and log are looked at this often: what an engine has saved, or has failed to, its INFO says at once. */
const THOROUGH_EVERY_MS = 15_000

/** Of a shard that was never looked at. */
export function createAttention(clock = (): number => performance.now()): Attention {
  const at = {
    ...{ askedOnce: -ASKED_FOR_MS, asked: -ASKED_FOR_MS, looked: -ASKED_MS, ended: -ENDED_MS },
    ...{ changed: clock(), thorough: -THOROUGH_EVERY_MS },
  }
  let told: Stream | null = null
  const isAsked = (now: number) => now - at.asked < ASKED_FOR_MS
  return {
    ask() {
      const now = clock()
      const isWorkedOn = now - at.askedOnce < ASKED_FOR_MS
      const isOld = isWorkedOn && !isAsked(now) && now - at.looked > ASKED_MS
      at.askedOnce = now
      if (isWorkedOn) at.asked = now
      return isOld
    },
    ended() {
      const now = clock()
      if (now - at.ended < ENDED_MS) return false
      at.ended = now
      return true
    },
    look(isSettled) {
      const now = clock()
      at.looked = now
      if (!isSettled) at.changed = now
      const isClose = isAsked(now) || now - at.changed < CHANGED_FOR_MS
      if (!isClose && now - at.thorough < THOROUGH_EVERY_MS) return false
      at.thorough = now
      return true
    },
    pauseMs: (restMs) => (isAsked(clock()) ? Math.min(restMs, ASKED_MS) : restMs),
    grown(stream) {
      const before = told
      told = stream ?? told
      if (stream === null) return null
      const { writes, ...grown } = stream
      const isSame = before?.runId === stream.runId && before.replid === stream.replid
      // Of another process or history the server reads itself how far it is.
      return before !== null && isSame && before.writes !== writes && before.offset !== grown.offset
        ? grown
        : null
    },
  }
}

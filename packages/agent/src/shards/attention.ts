import type { Stream } from '../engine/watch-engine.ts'

/** Frequency of looks at a shard: low for one that runs unchanged, high for one that the server asks for. */
export interface Attention {
  /** Call when the server asks for it. True if the server works on it, and the last look is too old. */
  ask(): boolean
  /**
   * Call when the connection to its engine has ended. True: it may have died, so look now; false: the next
   * look is soon enough, because this also happened a moment ago.
   */
  ended(): boolean
  /** Call when a look begins; `isSettled`: unchanged and healthy. True: look at disk and log, too. */
  look(isSettled: boolean): boolean
  /** Returns the rest after it, instead of `restMs`. */
  pauseMs(restMs: number): number
  /** The stream if it has grown by writes since the last call, else null. */
  grown(stream: Stream | null): Omit<Stream, 'writes'> | null
}

/**
 * Duration after the server has asked twice within this time. A single question is from the periodic check,
 * which needs only one look a second.
 */
const ASKED_FOR_MS = 2_000
const ASKED_MS = 250
/** An engine may close connections as fast as the agent opens them: the loop must not spin. */
const ENDED_MS = 500
/** After the last change, a save may not have reached the disk yet, nor its lines the log. */
const CHANGED_FOR_MS = 3_000
/** Otherwise the interval of looks at disk and log: INFO already shows saves and failures. */
const THOROUGH_EVERY_MS = 15_000

/** Creates the state of a shard before its first look. */
export function createAttention(clock = (): number => performance.now()): Attention {
  const at = {
    askedOnce: -ASKED_FOR_MS,
    asked: -ASKED_FOR_MS,
    looked: -ASKED_MS,
    ended: -ENDED_MS,
    changed: clock(),
    thorough: -THOROUGH_EVERY_MS,
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
      // After a change of process or history the server reads the offset itself.
      return before !== null && isSame && before.writes !== writes && before.offset !== grown.offset
        ? grown
        : null
    },
  }
}

import { currentPlace, nowMs, recordSince } from '@fairlead/engine'

/** Starts of an engine, as spans of the trace that ordered them. */
export interface StartTrace {
  /** Call when the current request requires another process. */
  asked(): void
  begins(): void
  /** Call when it answers, or, with an error, never will. */
  ends(isError: boolean): void
}

/** `shard` is its id. The current request is that of its first process. Restarts have no trace. */
export function traceStarts(shard: string): StartTrace {
  let place = currentPlace()
  let startMs: number | undefined
  return {
    asked() {
      place = currentPlace()
    },
    begins() {
      startMs = nowMs()
    },
    ends(isError) {
      if (startMs === undefined) return
      const attributes = { 'fairlead.part': 'agent', 'fairlead.shard': shard }
      recordSince(place, { name: 'start engine', startMs, attributes, isError })
      place = undefined
      startMs = undefined
    },
  }
}

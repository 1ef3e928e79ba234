import { currentPlace, nowMs, recordSince } from '@fairlead/engine'

/** The starts of an engine, as spans of the trace whose order asked for them. */
export interface StartTrace {
  /** The current request asks for another process. */
  asked(): void
  begins(): void
  /** It answers; or, with an error, it never will. */
  ends(isError: boolean): void
}

/** `shard` is its id. The request that is current now asks for its first process. A start that no request asked for, after a crash, is of no trace. */
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

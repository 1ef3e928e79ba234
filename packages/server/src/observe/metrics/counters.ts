import { createHistogram, type GrowingHistogram, secondsBounds, statementBounds } from './histogram.ts'

/** One number per combination of label values; there are few combinations. */
export interface LabelledCounter {
  add(...labels: readonly string[]): void
  entries(): Iterable<readonly [labels: readonly string[], value: number]>
}

/** Counts since the start of the process. Methods take well below a microsecond, and keep no requests. */
export interface Counters {
  /**
   * Counts an answer. `operation` is its name in the contract; `seconds` is null for meaningless durations.
   */
  answered(operation: string, status: number, seconds: number | null): void
  requests(): Iterable<RequestCounts>
  readonly logins: LabelledCounter
  readonly turns: LabelledCounter
  readonly turnSeconds: GrowingHistogram
  readonly ended: LabelledCounter
  readonly handovers: LabelledCounter
  readonly writeStopSeconds: GrowingHistogram
  readonly heldSeconds: GrowingHistogram
  /** The longest wait of a client in each handover. */
  readonly longestWaitSeconds: GrowingHistogram
  readonly storeSeconds: GrowingHistogram
  readonly storeErrors: LabelledCounter
  /** Counts a finished statement to the store. */
  statement(milliseconds: number, failure?: string): void
}

/** Counts of one operation. */
export interface RequestCounts {
  readonly operation: string
  /** Keyed by class of the status: `2xx`. */
  readonly byClass: ReadonlyMap<string, number>
  readonly seconds: GrowingHistogram
}

/** Creates counters at zero. */
export function createCounters(): Counters {
  const requests = new Map<string, { readonly byClass: Map<string, number>; seconds: GrowingHistogram }>()
  const storeSeconds = createHistogram(statementBounds)
  const storeErrors = createLabelledCounter()
  return {
    answered(operation, status, seconds) {
      let counts = requests.get(operation)
      if (counts === undefined) {
        counts = { byClass: new Map(), seconds: createHistogram(secondsBounds) }
        requests.set(operation, counts)
      }
      const statusClass = classes[Math.floor(status / 100)] ?? 'other'
      counts.byClass.set(statusClass, (counts.byClass.get(statusClass) ?? 0) + 1)
      if (seconds !== null) counts.seconds.observe(seconds)
    },
    *requests() {
      for (const [operation, counts] of requests) yield { operation, ...counts }
    },
    logins: createLabelledCounter(),
    turns: createLabelledCounter(),
    turnSeconds: createHistogram(secondsBounds),
    ended: createLabelledCounter(),
    handovers: createLabelledCounter(),
    writeStopSeconds: createHistogram(secondsBounds),
    heldSeconds: createHistogram(secondsBounds),
    longestWaitSeconds: createHistogram(secondsBounds),
    storeSeconds,
    storeErrors,
    statement(milliseconds, failure) {
      storeSeconds.observe(milliseconds / 1_000)
      if (failure !== undefined) storeErrors.add(failure)
    },
  }
}

const classes = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']

function createLabelledCounter(): LabelledCounter {
  const values = new Map<string, { readonly labels: readonly string[]; value: number }>()
  return {
    add(...labels) {
      const key = labels.join('\n')
      const known = values.get(key)
      if (known === undefined) values.set(key, { labels, value: 1 })
      else known.value += 1
    },
    *entries() {
      for (const { labels, value } of values.values()) yield [labels, value]
    },
  }
}

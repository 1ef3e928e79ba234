import { createHistogram, type GrowingHistogram, secondsBounds, statementBounds } from './histogram.ts'

/** A number for each combination of label values; there are few of them. */
export interface LabelledCounter {
  add(...labels: readonly string[]): void
  entries(): Iterable<readonly [labels: readonly string[], value: number]>
}

/** What this process has counted since it was started. Every method costs well below a microsecond, and keeps nothing of a single request. */
export interface Counters {
  /** A request was answered. `operation` is its name in the contract; `seconds` is null where its length says nothing. */
  answered(operation: string, status: number, seconds: number | null): void
  requests(): Iterable<RequestCounts>
  readonly logins: LabelledCounter
  readonly turns: LabelledCounter
  readonly turnSeconds: GrowingHistogram
  readonly ended: LabelledCounter
  readonly handovers: LabelledCounter
  readonly writeStopSeconds: GrowingHistogram
  readonly heldSeconds: GrowingHistogram
  /** Of each handover, the longest wait of a client. */
  readonly longestWaitSeconds: GrowingHistogram
  readonly storeSeconds: GrowingHistogram
  readonly storeErrors: LabelledCounter
  /** A statement to the store has ended. */
  statement(milliseconds: number, failure?: string): void
}

/** Of one operation. */
export interface RequestCounts {
  readonly operation: string
  /** By class of the status: `2xx`. */
  readonly byClass: ReadonlyMap<string, number>
  readonly seconds: GrowingHistogram
}

/** Nothing has happened yet. */
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
    ...{ storeSeconds, storeErrors },
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

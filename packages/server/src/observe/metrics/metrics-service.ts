import { setImmediate as pause } from 'node:timers/promises'
import { createReadFacts, type FactSources, type Facts } from './read-facts.ts'
import { readMetrics } from './read-metrics.ts'
import { readVendor } from './read-vendor.ts'
import { type Reading, writeText } from './write-text.ts'

/** The texts of metrics, made anew for each scrape. */
export interface Metrics {
  /** As `/metrics` shows them. */
  own(): Promise<string>
  /** As `/v2` shows them. */
  vendor(): Promise<string>
}

/** Several requests at once get one text: however many ask, one is made at a time. */
export function createMetrics(sources: FactSources): Metrics {
  const readFacts = createReadFacts(sources)
  const sharing = (read: (facts: Facts) => Iterable<Reading>) => {
    let making: Promise<string> | undefined
    const make = async () => writeText(read(await readFacts()), pause)
    return () => {
      making ??= make().finally(() => {
        making = undefined
      })
      return making
    }
  }
  return { own: sharing(readMetrics), vendor: sharing(readVendor) }
}

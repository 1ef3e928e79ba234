import { setImmediate as pause } from 'node:timers/promises'
import { createReadFacts, type FactSources } from './read-facts.ts'
import { readMetrics } from './read-metrics.ts'
import { writeText } from './write-text.ts'

/** Returns the text of `/metrics`. Concurrent calls share one text. */
export type Metrics = () => Promise<string>

/** Reads the facts again for each scrape. */
export function createMetrics(sources: FactSources): Metrics {
  const readFacts = createReadFacts(sources)
  let making: Promise<string> | undefined
  const make = async () => writeText(readMetrics(await readFacts()), pause)
  return () => {
    making ??= make().finally(() => {
      making = undefined
    })
    return making
  }
}

import { type BatchReader, openBatchReader } from './batch-reader.ts'
import type { Address } from './lookup-primary.ts'
import type { Ledger } from './run-load.ts'

/** What a database still holds of what it acknowledged. */
export interface Verdict {
  readonly acked: number
  /** Acknowledged, and missing or different. */
  readonly lost: number
  /** `incr`: carried out more often than acknowledged and unknown together allow. `set` cannot tell: it is 0. */
  readonly duplicated: number
  /** Sent and never answered: neither lost nor fine. */
  readonly unknown: number
  /** Up to five of what is wrong, in sentences. */
  readonly examples: readonly string[]
}

const KEYS_AT_ONCE = 500
/** Of values in one answer: a large answer is looked at again with each part of it that arrives. */
const BYTES_AT_ONCE = 512 * 1024
const MOST_EXAMPLES = 5

/**
 * Reads every acknowledged write back from the engine at `address`. The load must have been stopped.
 * Throws when the engine does not answer, or answers with an error.
 */
export async function readBack(options: {
  readonly ledger: Ledger
  readonly address: Address
  readonly password: string
  readonly valueBytes: number
}): Promise<Verdict> {
  const { ledger, address, password, valueBytes } = options
  using reader = await openBatchReader(address, password)
  const findings = createFindings()
  if (ledger.trails.length > 0) await readCounters(ledger, reader, findings)
  else await readKeys(ledger, reader, findings, valueBytes)
  await reader.drained()
  const { acked, unknown } = ledger.book.counts()
  return { acked, lost: findings.lost, duplicated: findings.duplicated, unknown, examples: findings.examples }
}

interface Findings {
  lost: number
  duplicated: number
  readonly examples: string[]
  example(sentence: string): void
}

function createFindings(): Findings {
  const examples: string[] = []
  return {
    lost: 0,
    duplicated: 0,
    examples,
    example(sentence) {
      if (examples.length < MOST_EXAMPLES) examples.push(sentence)
    },
  }
}

async function readKeys(
  { book, writes, connections }: Ledger,
  reader: BatchReader,
  findings: Findings,
  valueBytes: number,
): Promise<void> {
  const perBatch = Math.max(1, Math.min(KEYS_AT_ONCE, Math.floor(BYTES_AT_ONCE / (valueBytes + 100))))
  for (let connection = 0; connection < connections; connection += 1) {
    for (const numbers of batches(book.ackedNumbers(connection), perBatch)) {
      const keys = numbers.map((number) => writes.key(connection, number))
      await reader.ask(keys, (values) => {
        numbers.forEach((number, n) => {
          const value = values[n] ?? null
          if (value === writes.value(connection, number)) return
          findings.lost += 1
          const fate = value === null ? 'is missing' : 'has another value'
          findings.example(`key ${keys[n]} was acknowledged and ${fate}`)
        })
      })
    }
  }
}

async function readCounters(
  { book, writes, trails }: Ledger,
  reader: BatchReader,
  findings: Findings,
): Promise<void> {
  const counters = trails.map((_, connection) => writes.key(connection, 0))
  for (const numbers of batches(counters.keys(), KEYS_AT_ONCE)) {
    const keys = numbers.map((connection) => writes.key(connection, 0))
    await reader.ask(keys, (values) => {
      numbers.forEach((connection, n) => {
        const value = Number(values[n] ?? 0)
        const { lost, duplicated } = trails[connection]?.judge(value) ?? { lost: 0, duplicated: 0 }
        findings.lost += lost
        findings.duplicated += duplicated
        if (lost + duplicated === 0) return
        const { acked, unknown } = book.countsOf(connection)
        findings.example(
          `counter ${keys[n]} reads ${value} after ${acked} acknowledged and ${unknown} unknown increments`,
        )
      })
    })
  }
}

function* batches(numbers: Iterable<number>, most: number): Generator<readonly number[]> {
  let batch: number[] = []
  for (const number of numbers) {
    batch.push(number)
    if (batch.length < most) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

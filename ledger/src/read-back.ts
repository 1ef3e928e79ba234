import { type BatchReader, openBatchReader } from './batch-reader.ts'
import { hashSlot } from './hash-slot.ts'
import type { Address, Layout } from './layout.ts'
import type { Ledger } from './load-state.ts'
import { holdsSlot } from './slot-ranges.ts'

/** How much of the acknowledged writes a database still holds. */
export interface Verdict {
  readonly acked: number
  /** Acknowledged writes that are missing or different. */
  readonly lost: number
  /**
   * `incr`: carried out more often than acknowledged and unknown together allow. `set` cannot tell: it is 0.
   */
  readonly duplicated: number
  /** Sent and never answered: neither lost nor fine. */
  readonly unknown: number
  /** Up to five of the faults, in sentences. */
  readonly examples: readonly string[]
}

const KEYS_AT_ONCE = 500
/** Of values in one answer: a large answer is looked at again with each part of it that arrives. */
const BYTES_AT_ONCE = 512 * 1024
const MOST_EXAMPLES = 5

/**
 * Reads every acknowledged write back from the primary of its slot; or, at an `address`, those of the slots
 * that the shard there holds, and counts only these. The load must have been stopped. Throws when an engine
 * does not answer, or answers with an error, when a slot has no primary, and when nothing of the load lies at
 * the address.
 */
export async function readBack(options: {
  readonly ledger: Ledger
  readonly layout: Layout
  readonly address?: Address
  readonly password: string
  readonly valueBytes: number
}): Promise<Verdict> {
  const { ledger, layout, address: asked, password, valueBytes } = options
  const shares = asked ? [shareOf(ledger, layout, asked)] : sharesOfPrimaries(ledger, layout)
  const findings = createFindings()
  for (const { address, connections } of shares) {
    using reader = await openBatchReader({
      address,
      password,
      replica: layout.sharded && asked !== undefined,
    })
    if (ledger.trails.length > 0) await readCounters(ledger, connections, reader, findings)
    else await readKeys(ledger, connections, reader, findings, valueBytes)
    await reader.drained()
  }
  const counts = shares
    .flatMap(({ connections }) => connections)
    .map((connection) => ledger.book.countsOf(connection))
  const total = (outcome: 'acked' | 'unknown') => counts.reduce((sum, one) => sum + one[outcome], 0)
  const { lost, duplicated, examples } = findings
  return { acked: total('acked'), lost, duplicated, unknown: total('unknown'), examples }
}

/** The connections whose keys are looked for at one address. */
interface Share {
  readonly address: Address
  readonly connections: readonly number[]
}

function shareOf({ places }: Ledger, layout: Layout, address: Address): Share {
  const ranges = layout.slotsAt(address)
  const where = `${address.host}:${address.port}`
  if (!ranges) throw new Error(`the ledger cannot be read back from ${where}: the API names no such shard`)
  const connections = [...places.keys()].filter((connection) =>
    holdsSlot(ranges, places[connection]?.slot ?? -1),
  )
  if (connections.length === 0)
    throw new Error(`the ledger cannot be read back from ${where}: no slot of this load lies there`)
  return { address, connections }
}

function sharesOfPrimaries({ places }: Ledger, layout: Layout): readonly Share[] {
  const shares = new Map<string, Share & { readonly connections: number[] }>()
  places.forEach(({ slot }, connection) => {
    const address = layout.primaryOf(slot)
    if (!address) throw new Error(`the ledger cannot be read back: the API names no primary of slot ${slot}`)
    const where = `${address.host}:${address.port}`
    const share = shares.get(where) ?? { address, connections: [] }
    shares.set(where, share)
    share.connections.push(connection)
  })
  return [...shares.values()]
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
  { book, writes }: Ledger,
  connections: readonly number[],
  reader: BatchReader,
  findings: Findings,
  valueBytes: number,
): Promise<void> {
  const perBatch = Math.max(1, Math.min(KEYS_AT_ONCE, Math.floor(BYTES_AT_ONCE / (valueBytes + 100))))
  for (const connection of connections) {
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
  connections: readonly number[],
  reader: BatchReader,
  findings: Findings,
): Promise<void> {
  // A cluster reads many keys at once only from one slot, behind an endpoint too.
  const bySlot = Map.groupBy(connections, (connection) => hashSlot(writes.key(connection, 0)))
  for (const numbers of [...bySlot.values()].flatMap((alike) => [...batches(alike, KEYS_AT_ONCE)])) {
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

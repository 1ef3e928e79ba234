import type { PortRange } from '../../core/state/port-range.ts'
import type { DatabasesStore } from '../stores/databases-store.ts'
import type { ShardsStore } from '../stores/shards-store.ts'

/** Ports of a range that are on record, of shards and endpoints, in use at the moment or not; each once. */
export async function takenPorts(
  range: PortRange,
  stores: {
    readonly shards: Pick<ShardsStore, 'portsWithin'>
    readonly databases: Pick<DatabasesStore, 'portsWithin'>
  },
): Promise<readonly number[]> {
  const [shards, endpoints] = [
    await stores.shards.portsWithin(range),
    await stores.databases.portsWithin(range),
  ]
  return [...new Set([...shards, ...endpoints])]
}

/** How many that are: no port is on record twice. */
export async function countTakenPorts(
  range: PortRange,
  stores: {
    readonly shards: Pick<ShardsStore, 'countPortsWithin'>
    readonly databases: Pick<DatabasesStore, 'countPortsWithin'>
  },
): Promise<number> {
  return (await stores.shards.countPortsWithin(range)) + (await stores.databases.countPortsWithin(range))
}

/** The stores that know which ports are on record. */
export interface PortsOnRecord {
  readonly shards: Pick<ShardsStore, 'portsWithin' | 'countPortsWithin'>
  readonly databases: Pick<DatabasesStore, 'portsWithin' | 'countPortsWithin'>
}

/** Ports to look for a free one among, as an agent is asked. */
export interface PartOfPorts extends PortRange {
  readonly except: number[]
  readonly alsoFree: number[]
}

/** So many ports are looked at at once: what is read and sent is the same whether ten or ten thousand of the range are taken. */
const PART = 512

/**
 * The lowest port of a range that is not on record, nor one of `besides`, and that `findFree` finds free with those at the distances `alsoFree` from it; null
 * when there is none. `findFree` is asked of parts of the range, as the agent is.
 */
export async function findPortWithin(
  range: PortRange,
  { alsoFree, besides }: { readonly alsoFree: readonly number[]; readonly besides: readonly number[] },
  stores: PortsOnRecord,
  findFree: (part: PartOfPorts) => Promise<number | null>,
): Promise<number | null> {
  for await (const part of partsWithRoom(range, stores)) {
    const taken = await Promise.all(
      [0, ...alsoFree].map((by) => takenPorts({ from: part.from + by, to: part.to + by }, stores)),
    )
    const port = await findFree({ ...part, except: [...taken.flat(), ...besides], alsoFree: [...alsoFree] })
    if (port !== null) return port
  }
  return null
}

/** From the lowest on; the first one is looked at first, since it often has room. */
async function* partsWithRoom({ from, to }: PortRange, stores: PortsOnRecord): AsyncGenerator<PortRange> {
  const first = { from, to: Math.min(to, from + PART - 1) }
  if (await hasRoom(first, stores)) yield first
  if (first.to < to) yield* halvesWithRoom({ from: first.to + 1, to }, stores)
}

async function* halvesWithRoom(range: PortRange, stores: PortsOnRecord): AsyncGenerator<PortRange> {
  if (!(await hasRoom(range, stores))) return
  const ports = range.to - range.from + 1
  if (ports <= PART) return yield range
  const middle = range.from + Math.floor(ports / 2)
  yield* halvesWithRoom({ from: range.from, to: middle - 1 }, stores)
  yield* halvesWithRoom({ from: middle, to: range.to }, stores)
}

async function hasRoom(range: PortRange, stores: PortsOnRecord): Promise<boolean> {
  return (await countTakenPorts(range, stores)) < range.to - range.from + 1
}

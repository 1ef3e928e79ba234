import type { PortRange } from '../../core/state/port-range.ts'
import type { DatabasesStore } from '../stores/databases-store.ts'
import type { ShardsStore } from '../stores/shards-store.ts'

/** Recorded ports of shards and endpoints in a range, in use or not; each once. */
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

/** Number of recorded ports in a range; each is recorded once. */
export async function countTakenPorts(
  range: PortRange,
  stores: {
    readonly shards: Pick<ShardsStore, 'countPortsWithin'>
    readonly databases: Pick<DatabasesStore, 'countPortsWithin'>
  },
): Promise<number> {
  return (await stores.shards.countPortsWithin(range)) + (await stores.databases.countPortsWithin(range))
}

/** Stores with the recorded ports. */
export interface PortsOnRecord {
  readonly shards: Pick<ShardsStore, 'portsWithin' | 'countPortsWithin'>
  readonly databases: Pick<DatabasesStore, 'portsWithin' | 'countPortsWithin'>
}

/** A part of a range for an agent to search for a free port. */
export interface PartOfPorts extends PortRange {
  readonly except: number[]
  readonly alsoFree: number[]
}

/** Ports per part: the cost does not depend on the number of taken ports. */
const PART = 512

/**
 * Finds the lowest port of a range that is not recorded, not in `besides`, and free by `findFree` together
 * with the distances `alsoFree`; null: none. Calls `findFree` for parts of the range.
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

/** Parts in ascending order. The first is checked separately, since it often has room. */
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

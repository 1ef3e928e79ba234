import { SLOTS } from './hash-slot.ts'
import { holdsSlot, parseSlotRanges, type SlotRange } from './slot-ranges.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * The primary of each slot, as the API named it at one moment. A database that is not sharded is one group of
 * all slots.
 */
export interface Layout {
  readonly sharded: boolean
  /** The slots of each group as the API writes them, ascending. */
  readonly groups: readonly string[]
  /**
   * The primary of a slot; null if none is named. Of two primaries (a dead one may still be listed beside its
   * successor) it is the one that is not `doubted`.
   */
  primaryOf(slot: number, doubted?: Address): Address | null
  /** The slots of the shard at `address`, primary or replica; null when there is no such shard. */
  slotsAt(address: Address): readonly SlotRange[] | null
}

/** The API has no field for the host of a shard yet. */
const SHARD_HOST = '127.0.0.1'
const allSlots: readonly SlotRange[] = [[0, SLOTS - 1]]

/**
 * From the answer to `/v1/bdbs/<uid>`: the primary is the first address of the first endpoint. Throws when
 * there is none.
 */
export function readEndpoint(url: string, text: string): Layout {
  // Any program may have answered: each field on the way is optional, and the two values are checked below.
  const database = parse(text) as { endpoints?: { addr?: unknown[]; port?: unknown }[] } | null
  const endpoint = database?.endpoints?.[0]
  const [host, port] = [endpoint?.addr?.[0], endpoint?.port]
  if (typeof host !== 'string' || host === '' || !isPort(port))
    throw new Error(`${url} names no endpoint: ${text.slice(0, 200)}`)
  return {
    sharded: false,
    groups: [`0-${SLOTS - 1}`],
    primaryOf: () => ({ host, port }),
    slotsAt: () => allSlots,
  }
}

/** From the answer to `/v1/bdbs/<uid>/shards`. Throws when it names no primary with slots. */
export function readShards(url: string, text: string): Layout {
  const listed = parse(text)
  const shards = (Array.isArray(listed) ? listed : []).map(shardOf).filter((shard) => shard !== null)
  const primaries = shards.filter(({ primary, ranges }) => primary && ranges.length > 0)
  if (primaries.length === 0) throw new Error(`${url} names no primary of any slot: ${text.slice(0, 200)}`)
  const firstSlots = new Map(primaries.map(({ slots, ranges }) => [slots, ranges[0]?.[0] ?? 0]))
  return {
    sharded: true,
    groups: [...firstSlots].toSorted(([, a], [, b]) => a - b).map(([slots]) => slots),
    primaryOf(slot, doubted) {
      const named = primaries.filter(({ ranges }) => holdsSlot(ranges, slot)).map(({ address }) => address)
      const trusted = named.find((address) => !doubted || !isSameAddress(address, doubted))
      return trusted ?? named[0] ?? null
    },
    slotsAt: (address) => shards.find((shard) => isSameAddress(shard.address, address))?.ranges ?? null,
  }
}

export function isSameAddress(a: Address, b: Address): boolean {
  return a.host === b.host && a.port === b.port
}

interface Shard {
  readonly address: Address
  readonly primary: boolean
  readonly slots: string
  readonly ranges: readonly SlotRange[]
}

/** Null for a value that is not a shard: any program may have answered. */
function shardOf(listed: unknown): Shard | null {
  const { role, assigned_slots: slots, port } = (listed ?? {}) as Readonly<Record<string, unknown>>
  if (typeof slots !== 'string' || !isPort(port)) return null
  const ranges = parseSlotRanges(slots)
  return ranges && { address: { host: SHARD_HOST, port }, primary: role === 'master', slots, ranges }
}

function isPort(port: unknown): port is number {
  return typeof port === 'number' && port > 0
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: then it names no primary either.
    return null
  }
}

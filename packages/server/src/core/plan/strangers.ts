import type { Address } from '@fairlead/api'
import { isSameAddress } from '@fairlead/engine'
import { readSlotRanges, slotsWithin } from '../state/slot-ranges.ts'
import {
  type ClusterNode,
  isAt,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
} from '../state/topology.ts'

/** A node of the cluster that is no shard of the database, as seen by the shards that know it. */
export interface Stranger {
  readonly node: string
  readonly address: Address
  /** True if a shard was at its address: most likely it is left over from a former process. */
  readonly former: boolean
  /** Ids of the shards that know it, except its followers: an engine cannot forget its primary. */
  readonly knownTo: readonly number[]
  readonly followedBy: readonly number[]
  /** Slots in the view of any shard, as ranges in engines' format; '' if none. */
  readonly slots: string
}

/** Finds nodes that are no shards of the database. A joining node with a temporary id does not count yet. */
export function findStrangers({ groups }: ObservedDatabase): readonly Stranger[] {
  const records = groups.flatMap(({ shards }) => shards)
  const live = records.filter(isLive)
  const own = new Set(live.map(({ engine }) => engine.cluster?.id))
  const found = new Map<string, Stranger>()
  for (const { id, engine } of live) {
    const { nodes = [], id: itself } = engine.cluster ?? {}
    // By id: over TLS an engine reports another port of its primary than the cluster does.
    const followed = nodes.find((node) => node.id === itself)?.primary
    for (const node of nodes) {
      if (node.handshake || own.has(node.id)) continue
      const there = records.find((shard) => isAt(node.address, shard))
      // A silent shard may come back under this id; an answering one has another.
      if (there !== undefined && !isLive(there)) continue
      const follows = node.id === followed || isSameAddress(node.address, engine.primary)
      found.set(node.id, add(found.get(node.id), node, { id, follows, former: there !== undefined }))
    }
  }
  return [...found.values()]
}

function add(
  known: Stranger | undefined,
  { id: node, address, slots }: ClusterNode,
  by: { readonly id: number; readonly follows: boolean; readonly former: boolean },
): Stranger {
  const { knownTo = [], followedBy = [] } = known ?? {}
  return {
    node,
    address,
    former: by.former,
    knownTo: by.follows ? knownTo : [...knownTo, by.id],
    followedBy: by.follows ? [...followedBy, by.id] : followedBy,
    slots: known === undefined || known.slots === '' ? slots : known.slots,
  }
}

/** Returns the stranger with slots of the group in any view. A shard's former process does not count. */
export function findClaimant({ slots }: ObservedGroup, strangers: readonly Stranger[]): Stranger | undefined {
  if (slots === null) return undefined
  return strangers.find((one) => !one.former && slotsWithin(readSlotRanges(one.slots), slots).length > 0)
}

/** Formats the stranger's name for messages. */
export function nameStranger({ node, address }: Pick<Stranger, 'node' | 'address'>): string {
  return `node ${node} at ${address.host}:${address.port}`
}

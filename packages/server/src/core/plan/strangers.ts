import type { Address } from '@fairlead/api'
import { readSlotRanges, slotsWithin } from '../state/slot-ranges.ts'
import { type ClusterNode, isAt, isLive, type Seen, type SeenDatabase } from '../state/topology.ts'

/** A node of the cluster that is no shard of the database, as those who know it see it. */
export interface Stranger {
  readonly node: string
  readonly address: Address
  /** A shard of ours has stood at its address: most likely it is what is left of a former process. */
  readonly former: boolean
  /** The shards that know it, by id, without those that follow it: an engine cannot forget whom it follows. */
  readonly knownTo: readonly number[]
  readonly followedBy: readonly number[]
  /** The slots that it has, in the eyes of anybody. Ranges as the engines write them; '' when it has none. */
  readonly slots: string
}

/** Nodes that are none of the database's. A node on its way in, under an id that is not its own, is not one yet. */
export function findStrangers({ groups }: SeenDatabase): readonly Stranger[] {
  const records = groups.flatMap(({ shards }) => shards)
  const live = records.filter(isLive)
  const own = new Set(live.map(({ engine }) => engine.cluster?.id))
  const found = new Map<string, Stranger>()
  for (const { id, engine } of live) {
    for (const node of engine.cluster?.nodes ?? []) {
      if (node.handshake || own.has(node.id)) continue
      const there = records.find((shard) => isAt(node.address, shard))
      // Somebody who does not answer may come back under this id; somebody who answers has another one.
      if (there !== undefined && !isLive(there)) continue
      const follows = isSame(engine.primary, node.address)
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
    ...{ node, address, former: by.former },
    knownTo: by.follows ? knownTo : [...knownTo, by.id],
    followedBy: by.follows ? [...followedBy, by.id] : followedBy,
    slots: known === undefined || known.slots === '' ? slots : known.slots,
  }
}

function isSame(a: Address | null, b: Address): boolean {
  return a !== null && a.host === b.host && a.port === b.port
}

/** The stranger that has slots of the group, in the eyes of any shard. What is left of a former process of ours is none. */
export function findClaimant({ slots }: Seen, strangers: readonly Stranger[]): Stranger | undefined {
  if (slots === null) return undefined
  return strangers.find((one) => !one.former && slotsWithin(readSlotRanges(one.slots), slots).length > 0)
}

/** As people read it. */
export function nameStranger({ node, address }: Pick<Stranger, 'node' | 'address'>): string {
  return `node ${node} at ${address.host}:${address.port}`
}

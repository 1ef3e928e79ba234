import { hashSlot } from './hash-slot.ts'
import type { Layout } from './layout.ts'
import { holdsSlot, parseSlotRanges } from './slot-ranges.ts'

/**
 * Where a connection writes: all its keys lie in one slot, and that slot lay in `group` when the load began.
 */
export interface Place {
  readonly group: number
  readonly slot: number
  /** The hash tag of all its keys, which stands in `{…}`; empty without sharding. */
  readonly tag: string
}

/** Sixty times the number of tries that a group of a single slot needs on average. */
const MOST_TRIES = 1_000_000

/**
 * Connection i writes to group i mod n, each into a slot of its own choice. Throws when a group would get
 * none.
 */
export function placeConnections(connections: number, { sharded, groups }: Layout): readonly Place[] {
  if (!sharded) return Array.from({ length: connections }, () => ({ group: 0, slot: 0, tag: '' }))
  if (connections < groups.length)
    throw new Error(`connections must be at least ${groups.length}, one for each group, not ${connections}`)
  const ranges = groups.map((slots) => parseSlotRanges(slots) ?? [])
  const tags = ranges.map((): string[] => [])
  let missing = connections
  for (let number = 0; missing > 0; number += 1) {
    if (number === MOST_TRIES) throw new Error(`no tags were found for the slots ${groups.join(' and ')}`)
    const group = ranges.findIndex((range) => holdsSlot(range, hashSlot(`${number}`)))
    const found = tags[group]
    if (!found || found.length >= Math.ceil((connections - group) / groups.length)) continue
    found.push(`${number}`)
    missing -= 1
  }
  return Array.from({ length: connections }, (_, connection) => {
    const group = connection % groups.length
    const tag = tags[group]?.[Math.floor(connection / groups.length)] ?? ''
    return { group, slot: hashSlot(tag), tag }
  })
}

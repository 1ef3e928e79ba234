import type { SlotRange } from '../state/database.ts'
import { readSlotRanges, slotsMissing, slotsOutside, slotsWithin } from '../state/slot-ranges.ts'
import type { ClusterNode } from '../state/topology.ts'

/**
 * Returns how a shard that follows a node outside its group gets exactly `slots` by its takeover, from its
 * present view. `drop`: other nodes' slots whose owner it forgets (the owner announces them again within a
 * second). `add`: slots that the followed node does not have.
 */
export function slotsToTakeBack(
  nodes: readonly ClusterNode[],
  own: string,
  slots: SlotRange,
): { readonly drop: readonly SlotRange[]; readonly add: readonly SlotRange[] } {
  const followed = nodes.find(({ id }) => id === own)?.primary
  const held = readSlotRanges(nodes.find(({ id }) => id === followed)?.slots ?? '')
  const others = nodes.filter(({ id }) => id !== followed).flatMap((node) => readSlotRanges(node.slots))
  return {
    drop: [...slotsOutside(held, slots), ...slotsWithin(others, slots)],
    add: slotsMissing(slots, held),
  }
}

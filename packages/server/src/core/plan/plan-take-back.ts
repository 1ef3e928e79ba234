import { act } from '../state/group.ts'
import { readSlotRanges, slotsMissing, writeSlotRanges } from '../state/slot-ranges.ts'
import {
  type ClusterNode,
  isAt,
  type LiveShard,
  type ObservedGroup,
  type Verdict,
} from '../state/topology.ts'
import { nameStranger } from './strangers.ts'

/**
 * Takes back the slots of a group. In cluster mode an engine that loses its last slot to a node with a higher
 * epoch becomes its replica, with its replicas, but keeps its data until it has loaded that node's. A member
 * with the recorded history takes back only its group's slots: if it took all slots of the other node, other
 * groups would follow it and be emptied. Undefined if no shard follows a node outside the group.
 */
export function planTakeBack(seen: ObservedGroup, live: readonly LiveShard[]): Verdict | undefined {
  const { slots } = seen
  const astray = live.filter((shard) => isAstray(shard, seen))
  const [first] = astray
  if (slots === null || first === undefined) return undefined
  const [successor] = astray
    .filter((shard) => holdsHistory(shard, seen) && !shard.engine.loading)
    .filter(({ id, engine }) => engine.streamed || id === seen.recordedPrimary)
    .toSorted(
      (a, b) =>
        b.engine.offset - a.engine.offset ||
        Number(b.id === seen.recordedPrimary) - Number(a.id === seen.recordedPrimary) ||
        a.id - b.id,
    )
  const range = `slots ${slots.first}-${slots.last}`
  if (successor === undefined) {
    const why = `${range} were taken by ${nameOf(first)}, which is outside the group, and no shard of the group holds all data on record; a person has to decide which data to serve: see docs/explain/strangers.md`
    return { kind: 'stuck', code: 'data_missing', why }
  }
  const why = `${range} were taken by ${nameOf(successor)}, which is outside the group, and shard ${successor.id} still holds their data`
  return act({ kind: 'take-back', shard: successor.id, slots, why })
}

/** True if it follows a node outside its group that has, or had, the group's slots. */
export function isAstray(shard: LiveShard, { shards, slots }: ObservedGroup): boolean {
  const { role, primary } = shard.engine
  if (slots === null || role !== 'replica' || followedBy(shard) === undefined) return false
  return primary !== null && !shards.some((member) => isAt(primary, member))
}

/** True if it holds all acknowledged writes on record. */
export function holdsHistory({ engine }: LiveShard, { history }: ObservedGroup): boolean {
  if (history === null || engine.offset < history.offset) return false
  return engine.replid === history.replid || engine.replid2 === history.replid
}

/**
 * Handles a primary that lacks slots: it has lost them to another node, and deleted their keys immediately,
 * as did its replicas. Only a person can decide what is right.
 */
export function planLostSlots(primary: LiveShard, { slots }: ObservedGroup): Verdict | undefined {
  const { cluster } = primary.engine
  const own = cluster?.nodes.find(({ id }) => id === cluster.id)
  if (slots === null || own === undefined || own.slots === '') return undefined
  const missing = slotsMissing(slots, readSlotRanges(own.slots))
  if (missing.length === 0) return undefined
  const why = `shard ${primary.id} has lost slots ${writeSlotRanges(missing)} of its group to another node, and engines delete the keys of slots that they lose; a person has to decide whether they start empty: see docs/explain/strangers.md`
  return { kind: 'stuck', code: 'data_missing', why }
}

function followedBy({ engine }: LiveShard): ClusterNode | undefined {
  const { cluster } = engine
  const own = cluster?.nodes.find(({ id }) => id === cluster.id)
  return cluster?.nodes.find(({ id }) => id === own?.primary)
}

function nameOf(shard: LiveShard): string {
  const node = followedBy(shard)
  return node === undefined ? 'a node' : nameStranger({ node: node.id, address: node.address })
}

/**
 * True if it followed a node outside the group and holds another history than the primary, which has the
 * recorded one: no acknowledged write of the group is only there.
 */
export function hasStrangersData(misdirected: LiveShard, primary: LiveShard, seen: ObservedGroup): boolean {
  const { replid, replid2 } = primary.engine
  const isAnother = ![replid, replid2].includes(misdirected.engine.replid)
  return isAnother && isAstray(misdirected, seen) && holdsHistory(primary, seen)
}

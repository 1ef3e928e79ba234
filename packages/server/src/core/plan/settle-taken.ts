import { act } from '../state/group.ts'
import { readSlotRanges, slotsMissing, writeSlotRanges } from '../state/slot-ranges.ts'
import { type ClusterNode, isAt, type LiveShard, type Seen, type Verdict } from '../state/topology.ts'
import { nameStranger } from './strangers.ts'

/**
 * In cluster mode an engine that loses its last slot to a node with a higher epoch makes itself that node's replica, and so do its
 * replicas. It still holds its data, until it has loaded that node's. A member that holds the history on record takes the slots of
 * its group back, and none but those: taking all that the other one has would take other groups' too, which would then follow this one
 * and be emptied.
 *
 * Undefined when nobody of the group follows a node that is none of the group's.
 */
export function settleTaken(seen: Seen, live: readonly LiveShard[]): Verdict | undefined {
  const { slots } = seen
  const astray = live.filter((shard) => isAstray(shard, seen))
  const [first] = astray
  if (slots === null || first === undefined) return undefined
  const [heir] = astray
    .filter((shard) => holdsHistory(shard, seen) && !shard.engine.loading)
    .filter(({ id, engine }) => engine.streamed || id === seen.recordedPrimary)
    .toSorted(
      (a, b) =>
        b.engine.offset - a.engine.offset ||
        Number(b.id === seen.recordedPrimary) - Number(a.id === seen.recordedPrimary) ||
        a.id - b.id,
    )
  const range = `slots ${slots.first}-${slots.last}`
  if (heir === undefined) {
    const why = `${range} were taken by ${nameOf(first)}, which is none of the group's, and no shard of the group holds its data as far as it is on record; a person has to decide what shall be served: see docs/strangers.md`
    return { kind: 'stuck', code: 'data_missing', why }
  }
  const why = `${range} were taken by ${nameOf(heir)}, which is none of the group's, and shard ${heir.id} still holds their data`
  return act({ kind: 'take-back', shard: heir.id, slots, why })
}

/** It follows a node that is none of its group's, and that it knows: somebody who has the slots of its group, or had them. */
export function isAstray(shard: LiveShard, { shards, slots }: Seen): boolean {
  const { role, primary } = shard.engine
  if (slots === null || role !== 'replica' || followedBy(shard) === undefined) return false
  return primary !== null && !shards.some((member) => isAt(primary, member))
}

/** What was acknowledged, as far as it is on record, is in it. */
export function holdsHistory({ engine }: LiveShard, { history }: Seen): boolean {
  if (history === null || engine.offset < history.offset) return false
  return engine.replid === history.replid || engine.replid2 === history.replid
}

/**
 * A primary that lacks slots of its group has lost them to another node: engines are given them all at once. It has deleted their
 * keys at that moment, and so have its replicas: nobody but a person can tell what is right now.
 */
export function settleLostSlots(primary: LiveShard, { slots }: Seen): Verdict | undefined {
  const { cluster } = primary.engine
  const own = cluster?.nodes.find(({ id }) => id === cluster.id)
  if (slots === null || own === undefined || own.slots === '') return undefined
  const missing = slotsMissing(slots, readSlotRanges(own.slots))
  if (missing.length === 0) return undefined
  const why = `shard ${primary.id} has lost slots ${writeSlotRanges(missing)} of its group to another node, and engines delete the keys of slots that they lose; a person has to decide whether they begin empty: see docs/strangers.md`
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
 * It has followed a node that is none of the group's, and holds another history than the primary, which holds the one on record: nothing
 * that the group has acknowledged is only there.
 */
export function hasStrangersData(stray: LiveShard, primary: LiveShard, seen: Seen): boolean {
  const { replid, replid2 } = primary.engine
  const isAnother = ![replid, replid2].includes(stray.engine.replid)
  return isAnother && isAstray(stray, seen) && holdsHistory(primary, seen)
}

import type { Lane } from '../state/lane.ts'
import type { ObservedDatabase, Step, Verdict } from '../state/topology.ts'
import { megabytes } from './node-room.ts'

const MB = 1024 * 1024
/** A view of the cluster (nodes.conf) has some 200 bytes for each node, and more with many pieces of slots. Each shard writes a new one beside its old one. */
const OF_A_SHARD = 64 * 1024
/** Besides, before anything that can wait: what fills the disk may go on filling it while a role moves. */
const SPARE = 16 * MB

/**
 * In cluster mode an engine writes its view of the cluster to disk whenever that changes, and ends itself when it cannot, its data in memory
 * with it. (Only valkey since 9.1 can be told not to; redis 7.0 overwrites its file in place.) A takeover, an introduction or a shard that is forgotten changes the views of all
 * shards. So nothing of that is done while the disk is full: all shards would be lost at once. A repair needs only room for the files, and so does a shard that leaves: it gives room back.
 */
export function guardClusterFiles(lanes: readonly Lane[], seen: ObservedDatabase): readonly Lane[] {
  const isServed = seen.groups.some(({ recordedPrimary }) => recordedPrimary !== null)
  if (!isServed) return lanes
  const shards = seen.groups.reduce((sum, group) => sum + group.shards.length, 0)
  const free = Math.min(...seen.groups.map(({ node }) => node.diskFreeBytes))
  return lanes.map((lane) => {
    const { verdict } = lane
    if (verdict.kind !== 'do') return lane
    const needed = neededFor(verdict.step, MB + shards * OF_A_SHARD)
    return free >= needed ? lane : { ...lane, verdict: lackOfDisk(verdict.step, free, needed) }
  })
}

function neededFor({ kind }: Step, files: number): number {
  if (pressing.has(kind)) return files
  return changes.has(kind) ? files + SPARE : 0
}

function lackOfDisk({ why }: Step, free: number, needed: number): Verdict {
  const lack = `the node has ${megabytes(free)} MB of disk free, and ${Math.ceil(needed / MB)} MB are needed so that no shard ends itself because it cannot write its view of the cluster`
  return { kind: 'stuck', code: 'node_room', why: `${lack} (what would be done: ${why})` }
}

/** Without them a group may not serve, or not be whole, or the disk stays full: the files of a shard that leaves go first. */
const pressing: ReadonlySet<Step['kind']> = new Set([
  ...(['start-shard', 'follow', 'promote', 'take-back', 'meet', 'assign-slots', 'retire-shard'] as const),
])
/** What can wait until there is room. */
const changes: ReadonlySet<Step['kind']> = new Set([
  ...(['add-shard', 'restart-shard', 'restart-primary', 'hand-over', 'forget-node'] as const),
])

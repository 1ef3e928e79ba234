import type { Lane } from '../state/lane.ts'
import type { ObservedDatabase, Step, Verdict } from '../state/topology.ts'
import { megabytes } from './node-room.ts'

const MB = 1024 * 1024
/**
 * A view of the cluster (nodes.conf) has some 200 bytes per node, more with scattered slots. Each shard
 * writes a new one next to the old.
 */
const OF_A_SHARD = 64 * 1024
/** Additional space for changes that can wait: the disk may continue to fill while a role moves. */
const SPARE = 16 * MB

/**
 * Prevents changes of the cluster while the disk is full. In cluster mode an engine writes its view to disk
 * at each change, and exits with its data if it cannot (only Valkey since 9.1 can be configured otherwise;
 * Redis 7.0 overwrites the file in place). A takeover, an introduction or a forgotten shard changes all
 * views, so all shards would be lost; repairs need only room for the files, and so does a leaving shard,
 * which frees space.
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

/** Steps without which a group may not serve or be complete, or the disk stays full. */
const pressing: ReadonlySet<Step['kind']> = new Set([
  ...(['start-shard', 'follow', 'promote', 'take-back', 'meet', 'assign-slots', 'retire-shard'] as const),
])
/** Steps that can wait for room. */
const changes: ReadonlySet<Step['kind']> = new Set([
  ...(['add-shard', 'restart-shard', 'restart-primary', 'hand-over', 'forget-node'] as const),
])

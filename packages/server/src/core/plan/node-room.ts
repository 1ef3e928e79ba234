import type { Obstacle } from '../state/obstacle.ts'
import { surgeBytes } from '../state/surge-bytes.ts'
import type { LiveShard, ObservedGroup } from '../state/topology.ts'

/**
 * Returns why a surge shard has no memory: it needs the size of the primary's data, and room to receive them.
 * Without a surge shard, a replica can replace it.
 */
export function lackOfMemory(seen: ObservedGroup): Obstacle | undefined {
  const { node } = seen
  const bytes = surgeBytes(seen)
  if (node.memoryFreeBytes >= bytes) return undefined
  const why = `a surge shard needs ${megabytes(bytes)} MB of memory and the node has ${megabytes(node.memoryFreeBytes)} MB free`
  return { code: 'node_room', why }
}

/**
 * Returns why the disk has no room, which every kind of upgrade needs: a surge shard writes its files, and a
 * replica saves its data before it restarts.
 */
export function lackOfDisk({ node }: ObservedGroup, shard: LiveShard): Obstacle | undefined {
  const bytes = diskForFiles([shard])
  if (node.diskFreeBytes >= bytes) return undefined
  const why = `the upgrade needs ${megabytes(bytes)} MB of disk and the node has ${megabytes(node.diskFreeBytes)} MB free`
  return { code: 'node_room', why }
}

/** Returns the bytes that files of these shards may take, with some to spare. */
export function diskForFiles(shards: readonly LiveShard[]): number {
  return shards.reduce((sum, { engine }) => sum + engine.usedMemoryBytes * 2, SPARE_DISK_BYTES)
}

const SPARE_DISK_BYTES = 96 * 1024 * 1024

/** Rounds to whole mebibytes, for messages. */
export const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024)

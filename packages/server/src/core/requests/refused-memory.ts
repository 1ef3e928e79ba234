import type { Refused } from '../state/refused.ts'

/** Bytes of all groups together; 0 is unlimited. */
export interface MemoryPromise {
  readonly memoryBytes: number
  readonly replicas: number
}

/** `totalBytes`: for all shards of the node; `freeBytes`: free part of that, or of the machine, now. */
export interface NodeMemory {
  readonly totalBytes: number
  readonly freeBytes: number
}

/** Measured with Redis 7.0 and 8.0, Valkey 8.0, 8.1 and 9.1, without data: at most 0.97 and 2.77 MB. */
const EMPTY_BYTES = { alone: 1_000_000, inCluster: 3_000_000 }

/** Refuses so little memory that the engines of a database would refuse or evict everything. */
export function refuseTinyMemory(wanted: {
  readonly memoryBytes: number
  readonly groups: number
  readonly cluster: boolean
}): Refused | undefined {
  const each = wanted.cluster ? EMPTY_BYTES.inCluster : EMPTY_BYTES.alone
  const least = each * wanted.groups
  if (wanted.memoryBytes === 0 || wanted.memoryBytes >= least) return undefined
  const message = `memory_size: ${wanted.memoryBytes} bytes are less than empty engines take; send ${least} bytes or more (1 GB is 1000000000), or 0 for no limit`
  return { refused: 'memory_size_too_small', field: 'memory_size', message }
}

/**
 * Refuses a database that does not fit next to the `reserved` bytes of others. Each shard may use all of its
 * database's reservation, so others' reservations are not free even while empty. Databases without a limit
 * reserve nothing and are not refused: `freeBytes` includes their use.
 */
export function refuseLackOfMemory(
  wanted: MemoryPromise,
  reserved: number,
  node: NodeMemory,
): Refused | undefined {
  const { totalBytes, freeBytes } = node
  const needed = promised(wanted)
  const room = memoryForNew(reserved, node)
  if (needed <= room) return undefined
  const copies = wanted.replicas + 1
  const most = Math.floor(room / copies / MB) * MB
  const fix = most === 0 ? '' : `send ${most} bytes or less, `
  const message = `memory_size: ${describeNeed(needed, copies)}; shards may have ${mb(totalBytes)} MB of the node's memory (FAIRLEAD_NODE_MEMORY_MB), other databases have reserved ${mb(reserved)} MB, and ${mb(freeBytes)} MB are free now: ${fix}lower memory_size of other databases, or delete some`
  return { refused: 'insufficient_resources', field: 'memory_size', message }
}

/** Returns the bytes that new databases may reserve next to the `reserved` ones. */
export function memoryForNew(reserved: number, { totalBytes, freeBytes }: NodeMemory): number {
  return Math.max(0, Math.min(totalBytes - reserved, freeBytes))
}

function describeNeed(needed: number, copies: number): string {
  return copies === 1
    ? `the database needs ${mb(needed)} MB`
    : `primaries and replicas together need ${mb(needed)} MB (${copies} times memory_size)`
}

function promised({ memoryBytes, replicas }: MemoryPromise): number {
  return memoryBytes * (1 + replicas)
}

const MB = 1_000_000
const mb = (bytes: number) => Math.round(bytes / MB)

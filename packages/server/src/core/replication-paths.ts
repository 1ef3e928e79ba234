import type { Build } from '@fairlead/api'

/**
 * Can `from` feed a fresh replica of `to`, and can the roles then be swapped without losing anything?
 *
 * Returns null when it can, else the obstacle in words. Data of shared facts on engines §3 (81 pairs measured, every
 * 'ok' pair also with a partial resync after the swap): what decides is the RDB format that the primary writes and
 * the highest one that the replica reads. Data-dependent failures remain; the surge shard is the proof.
 */
export function obstacleToReplication(from: Build, to: Build): string | null {
  const writes = rdbWritten(from)
  const reads = rdbRead(to)
  if (writes === null || reads === null) return null
  if (reads.includes(writes)) return null
  return `${to.flavour} ${to.version} cannot read what ${from.flavour} ${from.version} sends (RDB format ${writes})`
}

/** The RDB format that a build writes; null for a build nobody has measured: the surge shard will tell. */
function rdbWritten({ flavour, version }: Build): number | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (flavour === 'valkey') return 11
  if (flavour === 'redict') return 12
  if (flavour !== 'redis') return null
  if (major === 6) return 9
  if (major === 7) return minor === 0 ? 10 : null
  if (major === 8) return minor >= 6 ? 13 : 12
  return null
}

/** The RDB formats a build reads. Valkey's formats above 11 are its own: it does not read 12 and 13 of redis. */
function rdbRead({ flavour, version }: Build): readonly number[] | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (flavour === 'valkey') return [9, 10, 11]
  if (flavour === 'redict') return [9, 10, 11, 12]
  if (flavour !== 'redis') return null
  if (major === 6) return [9]
  if (major === 7) return minor === 0 ? [9, 10] : null
  if (major === 8) return minor >= 6 ? [9, 10, 11, 12, 13] : [9, 10, 11, 12]
  return null
}

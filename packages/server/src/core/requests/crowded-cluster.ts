/**
 * CPU time for the two TLS connections between two shards. Measured: 128 shards on two processors took 72, 87
 * and 140 s to create.
 */
const MS_A_PAIR = 32
const LONG_MS = 60_000

/**
 * Returns a warning before this many shards form one cluster: each connects to each other, so the time grows
 * quadratically. Undefined if they are few, or the number of processors is unknown.
 */
export function crowdedCluster(shards: number, cores: number | undefined): string | undefined {
  const minutes = minutesFor(pairsAmong(shards), cores)
  if (minutes === undefined) return undefined
  return `${shards} shards in one cluster on ${cores} processor(s): each shard connects to each other shard, which takes about ${minutes} minute(s); engines and agent answer late meanwhile. Fewer groups, or more processors, take less`
}

/**
 * Like crowdedCluster, before an upgrade: each group gets an additional shard, and each restarted replica
 * reconnects, each to all others. Measured on two processors: 64 groups without replicas, estimate 98 s,
 * actual 153 s under client load; 32 groups with a replica each, estimate 73 s, actual 65 s.
 */
export function crowdedUpgrade(
  { groups, replicas }: { readonly groups: number; readonly replicas: number },
  cores: number | undefined,
): string | undefined {
  const before = groups * (1 + replicas)
  const most = before + groups
  const minutes = minutesFor(pairsAmong(most) - pairsAmong(before) + groups * replicas * before, cores)
  if (minutes === undefined) return undefined
  return `${most} shards in one cluster on ${cores} processor(s) while the upgrade runs: each new or restarted shard connects to each other shard, which takes about ${minutes} minute(s) in all, longer where the processors have other work; engines and agent answer late meanwhile, and clients wait longer while roles move`
}

function pairsAmong(shards: number): number {
  return (shards * (shards - 1)) / 2
}

/** Undefined for less than a minute, or an unknown number of processors. */
function minutesFor(pairs: number, cores: number | undefined): number | undefined {
  if (cores === undefined || cores < 1) return undefined
  const ms = (pairs * MS_A_PAIR) / cores
  return ms < LONG_MS ? undefined : Math.round(ms / 60_000)
}

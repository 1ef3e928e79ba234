/** Time of one processor for the two TLS connections between two shards. Measured: 128 shards on two processors were created in 72, 87 and 140 s. */
const MS_A_PAIR = 32
const LONG_MS = 60_000

/**
 * A warning before this many shards become one cluster: each shard connects to each other shard, so the time grows with the
 * square of their number. Undefined if they are few, or if the number of processors is not known.
 */
export function crowdedCluster(shards: number, cores: number | undefined): string | undefined {
  const minutes = minutesFor(pairsAmong(shards), cores)
  if (minutes === undefined) return undefined
  return `${shards} shards in one cluster on ${cores} processor(s): each shard connects to each other shard, which takes about ${minutes} minute(s); engines and agent answer late meanwhile. Fewer groups, or more processors, take less`
}

/**
 * The same before such a cluster is upgraded: each group gets one shard more, which connects to all others, and each replica connects to all
 * again when it is restarted. Measured on two processors: for 64 groups without replicas 98 s were estimated and 153 s were needed, with a load of clients;
 * for 32 groups with a replica each 73 s were estimated and 65 s were needed.
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

/** Undefined for less than one minute, and if the number of processors is not known. */
function minutesFor(pairs: number, cores: number | undefined): number | undefined {
  if (cores === undefined || cores < 1) return undefined
  const ms = (pairs * MS_A_PAIR) / cores
  return ms < LONG_MS ? undefined : Math.round(ms / 60_000)
}

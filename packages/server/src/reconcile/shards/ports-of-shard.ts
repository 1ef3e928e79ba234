import type { ShardRecord } from '../../core/state/database.ts'
import type { Runs } from '../../core/state/goal.ts'
import { BUS_DISTANCE } from '../../core/state/shard-addresses.ts'
import type { Seen } from '../../core/state/topology.ts'
import { shardsStore } from '../../databases/shards-store.ts'
import { takenPorts } from '../../databases/taken-ports.ts'
import type { Scene } from '../turn/scene.ts'

type Ports = Pick<ShardRecord, 'port' | 'tlsPort'>

/** One for clients, with one for the bus above it; and one for replicas, if the shard speaks TLS. Throws when none is free. */
export async function findPorts(isTls: boolean, scene: Scene): Promise<Ports> {
  const { database, deps } = scene
  const port = await findPort(database.cluster ? [BUS_DISTANCE] : [], scene)
  if (port === null) throw noneIsFree(scene)
  if (!isTls) return { port, tlsPort: null }
  const tlsPort = await findPort([], scene, [port])
  // A shard of a database of before does without: an upgrade of it counts on one port only.
  if (tlsPort === null && database.shardTls) throw noneIsFree(scene)
  if (tlsPort === null)
    deps.log.warn({ database: database.uid }, 'no port is free for TLS: a shard stays plain')
  return { port, tlsPort }
}

/**
 * Does a new process of a shard speak TLS to others? In a database of before TLS between shards it does from now on, if its build can:
 * each replica follows as both can. In cluster mode such a database stays plain, because all have to speak as one there.
 */
export async function getsTls(runs: Runs, { database, deps }: Scene): Promise<boolean> {
  if (database.shardTls) return true
  return !database.cluster && deps.shardTls && (await deps.trials.provesTls(database, runs))
}

/** What the next process of a shard runs, on record; with a port for TLS, if it has none and gets one. The record as it is then. */
export async function recordRuns(
  before: ShardRecord,
  next: Pick<ShardRecord, 'runs'> & Partial<Pick<ShardRecord, 'follows'>>,
  scene: Scene,
): Promise<ShardRecord> {
  const { deps } = scene
  const isNew = before.tlsPort === null && (await getsTls(next.runs, scene))
  return deps.inTurn(async () => {
    const shard = { ...before, ...next, tlsPort: isNew ? await findPort([], scene) : before.tlsPort }
    await deps.effect('record-runs', () =>
      deps.store.transaction(async (db) => {
        const shards = shardsStore(db)
        await shards.setRuns(shard.id, shard.runs)
        if (shard.follows !== before.follows) await shards.setFollows(shard.id, shard.follows)
        if (shard.tlsPort !== null) await shards.setTlsPort(shard.id, shard.tlsPort)
      }),
    )
    return shard
  })
}

/** Members as they can be followed now: a process of before TLS speaks none, whatever its record says of the next one. */
export function asTheyRun(
  members: readonly ShardRecord[],
  { shards }: Pick<Seen, 'shards'>,
): readonly ShardRecord[] {
  const isPlain = (id: number) =>
    shards.some((seen) => seen.id === id && seen.process === 'running' && seen.certificate === null)
  return members.map((shard) => (isPlain(shard.id) ? { ...shard, tlsPort: null } : shard))
}

async function findPort(
  alsoFree: readonly number[],
  { deps, signal }: Scene,
  besides: readonly number[] = [],
): Promise<number | null> {
  const except = [...(await takenPorts(deps)), ...besides]
  const body = { ...deps.portRange, except, alsoFree: [...alsoFree] }
  return (await deps.agent.findFreePort({ body }, { signal })).port
}

function noneIsFree({ deps: { portRange } }: Scene): Error {
  return new Error(`no port from ${portRange.from} to ${portRange.to} is free (FAIRLEAD_PORT_RANGE)`)
}

import type { EffectRunner } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import type { Runs } from '../../core/state/goal.ts'
import { BUS_DISTANCE } from '../../core/state/shard-addresses.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { findPortWithin } from '../../fleet/databases/taken-ports.ts'
import type { DatabaseRecords, Log, NodeAgent, Placing, ShardRecords, Trying } from '../turn/ports.ts'
import { member, type StepContext } from '../turn/step-context.ts'

type Ports = Pick<ShardRecord, 'port' | 'tlsPort'>
/** Ports of a turn for finding TCP ports of a shard. */
export type PlacingPorts = Placing &
  NodeAgent<'findFreePort'> &
  ShardRecords<'portsWithin' | 'countPortsWithin'> &
  DatabaseRecords<'portsWithin' | 'countPortsWithin'> &
  Log
type PortContext = Pick<StepContext<PlacingPorts>, 'database' | 'ports' | 'signal'>
/** `shardTls`: new shards use TLS between shards, if their build and database can. */
export type TlsPorts = Trying<'provesTls'> & { readonly shardTls: boolean }

/** Finds a client port (the bus port is above it), and a TLS port if needed. Throws if none is free. */
export async function findPorts(isTls: boolean, context: PortContext): Promise<Ports> {
  const { database, ports } = context
  const port = await findPort(database.cluster ? [BUS_DISTANCE] : [], context)
  if (port === null) throw noneIsFree(context, database.cluster)
  if (!isTls) return { port, tlsPort: null }
  const tlsPort = await findPort([], context, [port])
  // A shard of an older database stays without TLS: its upgrade needs only one port.
  if (tlsPort === null && database.shardTls) throw noneIsFree(context)
  if (tlsPort === null)
    ports.log.warn({ database: database.uid }, 'no port is free for TLS: a shard stays without TLS')
  return { port, tlsPort }
}

/**
 * True if a new process of a shard uses TLS to others. In a database older than this TLS it does if its build
 * can, because a replica uses TLS if both sides can; not in cluster mode, where all shards must be the same.
 */
export async function getsTls(
  runs: Runs,
  { database, ports }: Pick<StepContext<TlsPorts>, 'database' | 'ports'>,
): Promise<boolean> {
  if (database.shardTls) return true
  return !database.cluster && ports.shardTls && (await ports.trials.provesTls(database, runs))
}

/** Records what the next process of a shard runs, with a TLS port if it needs one. Returns the new record. */
export async function recordRuns(
  before: ShardRecord,
  next: Pick<ShardRecord, 'runs'> & Partial<Pick<ShardRecord, 'follows'>>,
  context: Pick<
    StepContext<PlacingPorts & TlsPorts & EffectRunner & ShardRecords<'setNext'>>,
    'database' | 'ports' | 'signal'
  >,
): Promise<ShardRecord> {
  const { ports } = context
  const isNew = before.tlsPort === null && (await getsTls(next.runs, context))
  return ports.runExclusive(async () => {
    const shard = { ...before, ...next, tlsPort: isNew ? await findPort([], context) : before.tlsPort }
    await ports.effect('record-runs', () => ports.shards.setNext(shard.id, shard))
    return shard
  })
}

/**
 * Returns the members with their present addresses for followers: an older process has no TLS, whatever is
 * recorded for the next one.
 */
export function asTheyRun(
  members: readonly ShardRecord[],
  { shards }: Pick<ObservedGroup, 'shards'>,
): readonly ShardRecord[] {
  const isPlain = (id: number) =>
    shards.some((seen) => seen.id === id && seen.process === 'running' && seen.certificate === null)
  return members.map((shard) => (isPlain(shard.id) ? { ...shard, tlsPort: null } : shard))
}

/** Returns a member of the group, with the address at which it can be followed now. */
export function toFollow(
  id: number,
  { members, seen }: Pick<StepContext<unknown>, 'members' | 'seen'>,
): ShardRecord {
  return member(id, { members: asTheyRun(members, seen) })
}

async function findPort(
  alsoFree: readonly number[],
  { ports, signal }: Pick<PortContext, 'ports' | 'signal'>,
  besides: readonly number[] = [],
): Promise<number | null> {
  return await findPortWithin(
    ports.portRange,
    { alsoFree, besides },
    ports,
    async (body) => (await ports.agent.findFreePort({ body }, { signal })).port,
  )
}

function noneIsFree(
  { ports: { portRange } }: { readonly ports: Pick<Placing, 'portRange'> },
  withBus = false,
): Error {
  const bus = withBus ? `, together with its port for the cluster bus, ${BUS_DISTANCE} above,` : ''
  return new Error(`no port from ${portRange.from} to ${portRange.to}${bus} is free (FAIRLEAD_PORT_RANGE)`)
}

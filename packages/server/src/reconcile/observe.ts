import type { NodeReport } from '@fairlead/api'
import { numberOf, readInfo, readReplication } from '@fairlead/engine'
import type { Handover } from '../actions/handovers-store.ts'
import type { Database, ShardRecord } from '../core/database.ts'
import type { EngineState, Seen, SeenShard } from '../core/topology.ts'
import type { Deps } from './deps.ts'
import type { Engines } from './engines.ts'

/** Looks at everything a decision about the database may depend on. Throws AgentUnreachable. */
export async function observe(database: Database, deps: Deps, signal: AbortSignal): Promise<Seen> {
  const report = await deps.agent.reportNode({}, { signal })
  const records = await deps.shards.listOf(database.uid)
  const handover = await deps.handovers.open(database.uid)
  return {
    shards: await Promise.all(records.map((record) => observeShard(record, report, database, deps.engines))),
    recordedPrimary: database.primaryShard,
    history: database.history,
    handover: handover === undefined ? null : describeHandover(handover, deps.now()),
    node: { memoryFreeBytes: report.memoryFreeBytes, diskFreeBytes: report.diskFreeBytes },
  }
}

/** What the agent calls a shard. */
export function agentName(shardId: number): string {
  return `s${shardId}`
}

function describeHandover({ from, to, released, intendedAt }: Handover, now: number): Seen['handover'] {
  return { from, to, released, ageMs: now - Date.parse(intendedAt) }
}

async function observeShard(
  record: ShardRecord,
  report: NodeReport,
  database: Database,
  engines: Engines,
): Promise<SeenShard> {
  const found = report.shards.find(({ id }) => id === agentName(record.id))
  const mayAnswer = found?.state === 'running' || found?.state === 'stopping'
  return {
    id: record.id,
    address: { host: record.host, port: record.port },
    wanted: record.runs,
    revision: found?.revision ?? null,
    follows: record.follows,
    leaving: record.leaving,
    process: found?.state ?? 'absent',
    processWhy: found?.why ?? 'the agent knows nothing of it',
    endedCleanly: found?.state === 'exited' && found.endedInOrder,
    engine: mayAnswer ? await inspect(record, database, engines) : null,
  }
}

/** The engine's own words; null when it does not answer. That is a fact to decide on, not a fault. */
async function inspect(
  record: ShardRecord,
  database: Database,
  engines: Engines,
): Promise<EngineState | null> {
  try {
    const connection = await engines.connect(database, record)
    return readEngine(await connection.info())
  } catch {
    return null
  }
}

function readEngine(text: string): EngineState {
  const replication = readReplication(text)
  const fields = readInfo(text)
  const isOn = (name: string) => fields[name] === '1'
  const isWriting = isOn('aof_rewrite_in_progress') || isOn('aof_rewrite_scheduled')
  const aof = isWriting || fields['aof_last_bgrewrite_status'] === 'err' ? 'rewriting' : 'on'
  return {
    role: replication.role,
    primary: replication.primary,
    link: replication.link,
    syncing: replication.syncing,
    loading: isOn('loading') || isOn('async_loading'),
    replid: replication.replid,
    replid2: replication.replid2,
    secondOffset: replication.secondOffset,
    offset: replication.offset,
    usedMemoryBytes: numberOf(fields, 'used_memory'),
    aof: isOn('aof_enabled') ? aof : 'off',
  }
}

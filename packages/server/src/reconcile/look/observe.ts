import { ApiError, type ShardReport, type ShardsReport } from '@fairlead/api'
import {
  type ClusterNodeInfo,
  countKeys,
  type InfoFields,
  messageOf,
  numberOf,
  type ReplicationInfo,
  readClusterNodes,
  readInfo,
  replicationIn,
} from '@fairlead/engine'
import { nodesToSee } from '../../core/plan/nodes-to-see.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { limitsOf } from '../../core/state/engine-memory.ts'
import { type Handover, tapeDue } from '../../core/state/handover.ts'
import { addressOnRecord, plainAddress } from '../../core/state/shard-addresses.ts'
import type {
  ClusterView,
  Disk,
  EngineState,
  ObservedDatabase,
  ObservedGroup,
  ObservedShard,
  Silence,
} from '../../core/state/topology.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { reportShards } from '../../nodes/report-shards.ts'
import type { Clock, EngineConnections, HandoverRecords, NodeAgent, ShardRecords } from '../turn/ports.ts'
import { readEngineMemory } from './read-engine-memory.ts'
import { readSaving } from './read-saving.ts'
import { readSync } from './read-sync.ts'

/** Ports for observing a database. */
export type ObservingPorts = NodeAgent<'reportNode' | 'reportShards'> &
  ShardRecords<'reservedBytes' | 'listOf'> &
  HandoverRecords<'last'> &
  EngineConnections &
  Clock

/** Observes everything that a decision about the database may depend on. Throws AgentUnreachable. */
export async function observe(
  database: Database,
  ports: ObservingPorts,
  signal: AbortSignal,
): Promise<ObservedDatabase> {
  const records = await ports.shards.listOf(database.uid)
  const names = records.map(({ id }) => agentName(id))
  const report = await reportShards(names, ports.agent, signal)
  // Memory reserved for shards that have not received their data yet is not free for others.
  const memoryFreeBytes = report.memoryFreeBytes - (await ports.shards.reservedBytes())
  const handovers = await ports.handovers.last(database.uid)
  const shards = await Promise.all(
    records.map(async (record) => ({
      group: record.group,
      shard: await observeShard(record, report, { database, records }, ports),
    })),
  )
  const node = { memoryFreeBytes, diskFreeBytes: report.diskFreeBytes }
  return {
    groups: database.groups.map(({ number, slots, primaryShard, history }) => ({
      group: number,
      slots: database.cluster ? slots : null,
      shards: shards.filter(({ group }) => group === number).map(({ shard }) => shard),
      recordedPrimary: primaryShard,
      history,
      ...describeHandover(handovers.get(number), ports.now()),
      limits: limitsOf(database),
      node,
    })),
  }
}

function describeHandover(
  last: Handover | undefined,
  now: number,
): Pick<ObservedGroup, 'handover' | 'standby' | 'tapeDue'> {
  if (last === undefined) return { handover: null, standby: null }
  const { from, to, released, closed, intendedAt, standby } = last
  // If the clock was set back, the handover counts as old: otherwise it would count as young for that long.
  const ageMs = Math.abs(now - Date.parse(intendedAt))
  const due = tapeDue(last, now)
  return {
    handover: closed ? null : { from, to, released, ageMs },
    standby,
    ...(due !== undefined && { tapeDue: due }),
  }
}

/** A database and all its shards on record. */
interface About {
  readonly database: Database
  readonly records: readonly ShardRecord[]
}

async function observeShard(
  record: ShardRecord,
  report: ShardsReport,
  about: About,
  ports: EngineConnections,
): Promise<ObservedShard> {
  const found = report.shards.find(({ id }) => id === agentName(record.id))
  const mayAnswer = found?.state === 'running' || found?.state === 'stopping'
  const engine = mayAnswer ? await inspect(record, about, ports) : null
  // The agent's reason comes first: it runs on the machine of the process.
  const unanswered = typeof engine === 'string' ? `the server does not reach it: ${engine}` : ''
  return {
    id: record.id,
    address: { host: record.host, port: record.port },
    wanted: record.runs,
    revision: found?.revision ?? null,
    follows: record.follows,
    leaving: record.leaving,
    process: found?.state ?? 'absent',
    processWhy: found === undefined ? 'the agent does not know it' : found.why || unanswered,
    portTaken: found?.portTaken ?? false,
    failsToStart: found?.failsToStart ?? null,
    beganAfterDeath: found?.beganAfterDeath ?? false,
    asleep: found?.asleep ?? false,
    trouble: found?.trouble ?? '',
    cannotRead: found?.cannotRead ?? false,
    cannotSend: found?.cannotSend ?? false,
    lastLogLine: found?.lastLogLine ?? '',
    next:
      found === undefined ? null : { limitBytes: found.memoryBytes, evictionPolicy: found.evictionPolicy },
    saving: found?.saving ?? null,
    passwords: found?.passwords ?? null,
    users: found?.users ?? null,
    silence: found === undefined ? null : silenceOf(found),
    disk: found === undefined ? nothing : found.disk,
    endedCleanly: found?.state === 'exited' && found.endedInOrder,
    certificate: found?.certificate ?? null,
    engine: typeof engine === 'string' ? null : engine,
  }
}

function silenceOf({ silence, startedAt }: ShardReport): Silence | null {
  if (silence === null || startedAt === null) return null
  return { hung: silence.hung, onDisk: silence.onDisk, forMs: silence.forMs, startedAt }
}

/** The agent has no folder for it. */
const nothing: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

/** Returns the engine's state; if it does not answer, the reason: silence is a fact for the plan. */
async function inspect(
  record: ShardRecord,
  { database, records }: About,
  { engines }: EngineConnections,
): Promise<EngineState | string> {
  try {
    const connection = await engines.connect(database, record)
    const [info, state, nodes] = await Promise.all([
      connection.info(),
      database.cluster ? connection.call('CLUSTER', 'INFO') : null,
      database.cluster ? connection.call('CLUSTER', 'NODES') : null,
    ])
    const view = readView(String(state ?? ''), readClusterNodes(String(nodes ?? '')), records)
    return readEngine(info, view, records)
  } catch (cause) {
    // The agent is away, or this server was replaced: nothing is known of the engine.
    if (cause instanceof AgentUnreachable || cause instanceof ApiError) throw cause
    return messageOf(cause)
  }
}

/**
 * After a full sync a primary stalls the stream for up to a second, until the follower has acknowledged an
 * offset, and reports "online,offset=0". After a partial sync it reports the same but sends immediately:
 * without a served full sync, no stream is stalled.
 */
function heldBack(
  fields: InfoFields,
  { replicas }: ReplicationInfo,
  records: readonly ShardRecord[],
): Pick<EngineState, 'heldBack'> {
  const silent = replicas.filter(({ online, offset }) => !online || offset === 0)
  if (silent.length === 0 || numberOf(fields, 'sync_full') === 0) return {}
  return { heldBack: silent.map(({ host, port }) => plainAddress({ host, port }, records)) }
}

function readView(
  state: string,
  known: readonly ClusterNodeInfo[],
  records: readonly ShardRecord[],
): ClusterView | null {
  const myself = known.find((node) => node.myself)
  if (myself === undefined) return null
  const nodes = known.map((node) => ({ ...node, address: addressOnRecord(node, records) }))
  return { id: myself.id, serves: state.includes('cluster_state:ok'), nodes: nodesToSee(nodes, records) }
}

function readEngine(text: string, cluster: ClusterView | null, records: readonly ShardRecord[]): EngineState {
  const fields = readInfo(text)
  const replication = replicationIn(fields)
  const isOn = (name: string) => fields[name] === '1'
  const isWriting = isOn('aof_rewrite_in_progress') || isOn('aof_rewrite_scheduled')
  const aof = isWriting || fields['aof_last_bgrewrite_status'] === 'err' ? 'rewriting' : 'on'
  const own = cluster?.nodes.find(({ id }) => id === cluster.id)
  const isBlank = replication.role === 'primary' && own?.slots === ''
  return {
    runId: fields['run_id'] ?? '',
    upSeconds: numberOf(fields, 'uptime_in_seconds'),
    role: isBlank ? 'blank' : replication.role,
    primary: replication.primary && plainAddress(replication.primary, records),
    link: replication.link,
    syncing: replication.syncing,
    sync: replication.syncing ? readSync(fields) : null,
    loading: isOn('loading') || isOn('async_loading'),
    replid: replication.replid,
    replid2: replication.replid2,
    secondOffset: replication.secondOffset,
    offset: replication.offset,
    writes: `${fields['rdb_changes_since_last_save']} ${fields['rdb_last_save_time']}`,
    usedMemoryBytes: numberOf(fields, 'used_memory'),
    memory: readEngineMemory(fields),
    keys: countKeys(fields),
    aof: isOn('aof_enabled') ? aof : 'off',
    saving: readSaving(fields),
    // Engines create the backlog with their first follower or stream, and keep it (repl-backlog-ttl 0).
    streamed: isOn('repl_backlog_active'),
    ...heldBack(fields, replication, records),
    errorReplies: numberOf(fields, 'unexpected_error_replies'),
    cluster,
  }
}

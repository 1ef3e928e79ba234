import { compareVersions, type InfoFields, numberOf, readInfo } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'

/** What one engine process says of itself, looked at again and again; the same as the server reads in full when something is different. */
export interface EngineWatch {
  /** Asks. False: it got no answer. Never throws for what the engine does: whether it answers is the probe's to say. */
  look(probe: Pick<Probe, 'call'>, last: Pick<ProcessRecord, 'startedAt' | 'spec'>): Promise<boolean>
  /** What a decision may depend on, as text; empty before the first look at a process. */
  state(): string
  /** How the last look differed from the one before, but for what always moves. */
  readonly changed: boolean
  /** A replica without its primary, and a failed save: there the log may say more at any moment. */
  readonly struggles: boolean
  /** Clients of the engine, and the most that it takes; null where its INFO does not say. */
  room(): { readonly connected: number; readonly most: number | null }
  /** How far its stream was as a primary, kept when it has died; null while it is none. `writes`: another text after writes. */
  stream(): Stream | null
}

/** The stream of a primary: which process, which history, bytes of it. */
export interface Stream {
  readonly runId: string
  readonly replid: string
  readonly offset: number
  /** Another text once something was written: engines put PINGs into the stream as well. */
  readonly writes: string
}

const SECTIONS = ['server', 'clients', 'memory', 'persistence', 'replication'] as const

/** Of INFO: role and link, what it has loaded, saves and writes anew, and its limit. */
const FIELDS = [
  ...['run_id', 'role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'],
  ...['master_replid', 'master_replid2', 'second_repl_offset', 'repl_backlog_active', 'repl_backlog_size'],
  ...['loading', 'async_loading', 'aof_enabled', 'aof_rewrite_in_progress', 'aof_rewrite_scheduled'],
  ...['aof_last_bgrewrite_status', 'rdb_bgsave_in_progress', 'rdb_last_bgsave_status', 'rdb_last_save_time'],
  ...['maxmemory', 'maxmemory_policy'],
]
/** Of CLUSTER INFO: another number when a node, a slot, a role or an epoch is another. Its counters of messages always move. */
const OF_CLUSTER =
  /^cluster_(?:state|slots_\w+|known_nodes|size|current_epoch|my_epoch|nodes_p?fail|voting_nodes_p?fail):\S*/gm
/** Memory that came or went by less than a tenth, or by less than this, is no news. */
const LEAST_MEMORY_BYTES = 4 * 1024 * 1024

/** Of no process yet. */
export function watchEngine(): EngineWatch {
  const seen = { of: 0, state: '', changed: true, memory: 0, fields: {} as InfoFields }
  let stream: Stream | null = null
  return {
    async look(probe, { startedAt, spec }) {
      if (seen.of !== startedAt) Object.assign(seen, { of: startedAt, state: '', memory: 0, fields: {} })
      try {
        const [fields, cluster] = await Promise.all([
          readSections(probe, spec),
          spec.cluster ? probe.call('CLUSTER', 'INFO') : null,
        ])
        const used = numberOf(fields, 'used_memory')
        if (Math.abs(used - seen.memory) > Math.max(LEAST_MEMORY_BYTES, seen.memory / 10)) seen.memory = used
        const state = describe(fields, String(cluster ?? ''), seen.memory)
        Object.assign(seen, { fields, state, changed: state !== seen.state })
        stream = streamOf(fields)
        return true
      } catch {
        seen.changed = true
        return false
      }
    },
    state: () => seen.state,
    get changed() {
      return seen.changed
    },
    get struggles() {
      const { role, master_link_status: link } = seen.fields
      const isOk = (status: string | undefined) => status === undefined || status === 'ok'
      const isSaved =
        isOk(seen.fields['rdb_last_bgsave_status']) && isOk(seen.fields['aof_last_bgrewrite_status'])
      return !isSaved || (role === 'slave' && link !== 'up')
    },
    room() {
      const most = Number(seen.fields['maxclients'] ?? Number.NaN)
      return { connected: numberOf(seen.fields, 'connected_clients'), most: Number.isNaN(most) ? null : most }
    },
    stream: () => stream,
  }
}

/** One question, where the engine takes several sections in one: redis 7 and later, and every valkey. */
async function readSections(
  probe: Pick<Probe, 'call'>,
  { build }: Pick<ProcessRecord['spec'], 'build'>,
): Promise<InfoFields> {
  if (build.flavour !== 'redis' || compareVersions(build.version, '7.0.0') >= 0)
    return readInfo(String(await probe.call('INFO', ...SECTIONS)))
  const texts = await Promise.all(SECTIONS.map((section) => probe.call('INFO', section)))
  return readInfo(texts.join('\n'))
}

function describe(fields: InfoFields, cluster: string, memory: number): string {
  const replicas = Object.keys(fields)
    .filter((name) => /^slave\d+$/.test(name))
    .map((name) => withoutProgress(fields[name] ?? ''))
  const own = FIELDS.map((name) => fields[name] ?? '')
  return [...own, ...replicas, memory, ...(cluster.match(OF_CLUSTER) ?? [])].join(' ')
}

/** "ip=127.0.0.1,port=7002,state=online,offset=14,lag=0,type=replica": where it is, and whether the stream flows to it. */
function withoutProgress(replica: string): string {
  const flows = !/\boffset=0\b/.test(replica)
  return `${replica.replace(/,offset=.*$/, '')},${flows}`
}

function streamOf(fields: InfoFields): Stream | null {
  if (fields['role'] !== 'master' || fields['loading'] !== '0') return null
  return {
    ...{ runId: fields['run_id'] ?? '', replid: fields['master_replid'] ?? '' },
    offset: numberOf(fields, 'master_repl_offset'),
    writes: `${fields['rdb_changes_since_last_save']} ${fields['rdb_last_save_time']}`,
  }
}

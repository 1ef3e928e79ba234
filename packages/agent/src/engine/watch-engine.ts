import { compareVersions, type InfoFields, numberOf, pickInfo, readInfo } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'
import { COUNTED, COUNTER_SECTIONS, type EngineCounters, readCounters } from './read-counters.ts'

/** The state that one engine process reports, read again and again. When something is different, the server reads the full state. */
export interface EngineWatch {
  /** Asks. False: there was no answer. Never throws for what the engine does: the probe says whether it answers. */
  look(
    probe: Pick<Probe, 'call' | 'opened'>,
    last: Pick<ProcessRecord, 'startedAt' | 'spec'>,
  ): Promise<boolean>
  /** What a decision may depend on, as text; empty before the first look at a process. */
  state(): string
  /** How the last look differed from the one before, without values that always move. */
  readonly changed: boolean
  /** A replica without its primary, or a failed save: the log may have news about it at any moment. */
  readonly struggles: boolean
  /** The number of clients, and the most that the engine accepts; null if INFO does not say. */
  room(): { readonly connected: number; readonly most: number | null }
  /** The offset of its stream as a primary, kept when it has died; null while it is not a primary. `writes`: another text after writes. */
  stream(): Stream | null
  /** What it has counted, as of a moment ago; another object after it was asked for it again. Null: it was not asked yet. */
  counters(): EngineCounters | null
}

/** The stream of a primary: which process, which history, bytes of it. */
export interface Stream {
  readonly runId: string
  readonly replid: string
  readonly offset: number
  /** Another text once something was written: engines put PINGs into the stream as well. */
  readonly writes: string
}

/** Asked for with each look: while nothing happens, engines answer with the same bytes. */
const SECTIONS = ['clients', 'persistence', 'replication'] as const
/** Role and link, what it has loaded, saves and writes anew. */
const FIELDS = [
  ...['role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'],
  ...['master_replid', 'master_replid2', 'second_repl_offset', 'repl_backlog_active', 'repl_backlog_size'],
  ...['loading', 'async_loading', 'aof_enabled', 'aof_rewrite_in_progress', 'aof_rewrite_scheduled'],
  ...['aof_last_bgrewrite_status', 'rdb_bgsave_in_progress', 'rdb_last_bgsave_status', 'rdb_last_save_time'],
]
/** Asked for less often: memory values always change, and are half of the text of INFO. */
const SLOW_SECTIONS = ['server', 'memory'] as const
const SLOW_EVERY_MS = 5_000
/** Its counters are asked for with these, and less often still. */
const COUNTERS_EVERY_MS = 10_000
/** Its limit, and which process it is. */
const SLOW_FIELDS = ['run_id', 'maxmemory', 'maxmemory_policy']
/** Of CLUSTER INFO: another number when a node, a slot, a role or an epoch is another. Its counters of messages always move. */
const OF_CLUSTER =
  /^cluster_(?:state|slots_\w+|known_nodes|size|current_epoch|my_epoch|nodes_p?fail|voting_nodes_p?fail):\S*/gm
/** Memory that changed by less than a tenth, or by less than this, is no change. */
const LEAST_MEMORY_BYTES = 4 * 1024 * 1024

/** Of no process yet. `clock`: milliseconds that only rise. */
export function watchEngine(clock = (): number => performance.now()): EngineWatch {
  const seen = nothingSeen()
  return {
    async look(probe, { startedAt, spec }) {
      // The offset of the former process stays on record until the next process reports its own.
      if (seen.of !== startedAt) Object.assign(seen, nothingSeen(), { of: startedAt, stream: seen.stream })
      // A new connection may lead to another process with the same pid (DEBUG RESTART).
      const isSlow = clock() >= seen.slowAt || probe.opened !== seen.opened
      const isCounted = isSlow && clock() >= seen.countersAt
      const slowSections = isCounted ? [...SLOW_SECTIONS, ...COUNTER_SECTIONS] : SLOW_SECTIONS
      try {
        const [text, slow, cluster] = await Promise.all([
          readSections(probe, spec, SECTIONS),
          isSlow ? readSections(probe, spec, slowSections) : null,
          spec.cluster ? probe.call('CLUSTER', 'INFO') : null,
        ])
        const before = seen.state
        if (slow !== null) {
          takeSlow(seen, pickInfo(slow, [...SLOW_FIELDS, 'used_memory']))
          Object.assign(seen, { slowAt: clock() + SLOW_EVERY_MS, opened: probe.opened })
        }
        if (text !== seen.text) takeOften(seen, text)
        seen.state = [seen.often, seen.slow, ...(String(cluster ?? '').match(OF_CLUSTER) ?? [])].join(' ')
        seen.changed = seen.state !== before
        seen.stream = streamOf(seen.fields, seen.runId)
        if (slow !== null && isCounted) {
          seen.counters = readCounters(pickInfo(slow, COUNTED), seen.fields)
          seen.countersAt = clock() + COUNTERS_EVERY_MS
        }
        return true
      } catch {
        // Which of them were answered is not known.
        Object.assign(seen, { changed: true, slowAt: 0 })
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
    stream: () => seen.stream,
    counters: () => seen.counters,
  }
}

/** What was seen of one process. */
interface Seen {
  /** When it was started. */
  of: number
  opened: number
  slowAt: number
  countersAt: number
  counters: EngineCounters | null
  runId: string
  memory: number
  /** Of each of the two questions what a decision may depend on; and the words of the first. */
  slow: string
  often: string
  text: string
  fields: InfoFields
  state: string
  changed: boolean
  stream: Stream | null
}

function nothingSeen(): Seen {
  return {
    ...{
      of: 0,
      opened: 0,
      slowAt: 0,
      countersAt: 0,
      counters: null,
      runId: '',
      memory: 0,
      slow: '',
      often: '',
      text: '',
    },
    ...{ fields: {}, state: '', changed: true, stream: null },
  }
}

function takeSlow(seen: Seen, fields: InfoFields): void {
  const used = numberOf(fields, 'used_memory')
  if (Math.abs(used - seen.memory) > Math.max(LEAST_MEMORY_BYTES, seen.memory / 10)) seen.memory = used
  seen.runId = fields['run_id'] ?? ''
  seen.slow = [...SLOW_FIELDS.map((name) => fields[name] ?? ''), seen.memory].join(' ')
}

function takeOften(seen: Seen, text: string): void {
  const fields = readInfo(text)
  const replicas = Object.keys(fields)
    .filter((name) => /^slave\d+$/.test(name))
    .map((name) => withoutProgress(fields[name] ?? ''))
  const often = [...FIELDS.map((name) => fields[name] ?? ''), ...replicas].join(' ')
  Object.assign(seen, { text, fields, often })
}

/** One question, where the engine takes several sections in one: redis 7 and later, and every valkey. */
async function readSections(
  probe: Pick<Probe, 'call'>,
  { build }: Pick<ProcessRecord['spec'], 'build'>,
  sections: readonly string[],
): Promise<string> {
  if (build.flavour !== 'redis' || compareVersions(build.version, '7.0.0') >= 0)
    return String(await probe.call('INFO', ...sections))
  const texts = await Promise.all(sections.map((section) => probe.call('INFO', section)))
  return texts.join('\n')
}

/** "ip=127.0.0.1,port=7002,state=online,offset=14,lag=0,type=replica": where it is, and whether the stream flows to it. */
function withoutProgress(replica: string): string {
  const flows = !/\boffset=0\b/.test(replica)
  return `${replica.replace(/,offset=.*$/, '')},${flows}`
}

function streamOf(fields: InfoFields, runId: string): Stream | null {
  if (fields['role'] !== 'master' || fields['loading'] !== '0') return null
  return {
    ...{ runId, replid: fields['master_replid'] ?? '' },
    offset: numberOf(fields, 'master_repl_offset'),
    writes: `${fields['rdb_changes_since_last_save']} ${fields['rdb_last_save_time']}`,
  }
}

import { compareVersions, type InfoFields, numberOf, pickInfo, type Reply, readInfo } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'
import { askClasses, type CommandClasses, countByClass } from './command-classes.ts'
import { COUNTED, COUNTER_SECTIONS, type EngineCounters, readCounters } from './read-counters.ts'

/** State of one engine process, read repeatedly. On a difference, the server reads the full state. */
export interface EngineWatch {
  /** Asks the engine; false without an answer. Never throws because of the engine: the probe reports that. */
  look(probe: LookProbe, last: Pick<ProcessRecord, 'startedAt' | 'spec'>): Promise<boolean>
  /** State that a decision may depend on, as text; empty before the first look at a process. */
  state(): string
  /** True if the last look differed from the former one, ignoring values that always change. */
  readonly changed: boolean
  /** True for a replica without its primary, or a failed save: the log may have news soon. */
  readonly struggles: boolean
  /** Number of clients, and the engine's limit; null if INFO lacks it. */
  room(): { readonly connected: number; readonly most: number | null }
  /** Offset of its stream as a primary, kept after its death; null while it is no primary. */
  stream(): Stream | null
  /** Recent counters; another object after they were read again. Null: not read yet. */
  counters(): EngineCounters | null
}

type LookProbe = Pick<Probe, 'call' | 'callAgain' | 'opened'>

/** The stream of a primary: its process, history and bytes. */
export interface Stream {
  readonly runId: string
  readonly replid: string
  readonly offset: number
  /** Different after each write: engines put PINGs into the stream as well. */
  readonly writes: string
}

/** Asked in each look: while nothing happens, engines answer with the same bytes. */
const OFTEN = infoOf('clients', 'persistence', 'replication')
/** Role and link, loading, saves and rewrites. */
const FIELDS = [
  ...['role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'],
  ...['master_replid', 'master_replid2', 'second_repl_offset', 'repl_backlog_active', 'repl_backlog_size'],
  ...['loading', 'async_loading', 'aof_enabled', 'aof_rewrite_in_progress', 'aof_rewrite_scheduled'],
  ...['aof_last_bgrewrite_status', 'rdb_bgsave_in_progress', 'rdb_last_bgsave_status', 'rdb_last_save_time'],
]
/** Asked less often: memory values always change, and are half of INFO's text. */
const SLOW = infoOf('server', 'memory')
const SLOW_EVERY_MS = 5_000
/** Asked with these, but less often. */
const COUNTED_SLOW = infoOf('server', 'memory', ...COUNTER_SECTIONS)
const COUNTERS_EVERY_MS = 10_000
/** Limit and identity of the process. */
const SLOW_FIELDS = ['run_id', 'maxmemory', 'maxmemory_policy']
/** Numbers of CLUSTER INFO that change with a node, a slot, a role or an epoch; not message counters. */
const OF_CLUSTER =
  /^cluster_(?:state|slots_\w+|known_nodes|size|current_epoch|my_epoch|nodes_p?fail|voting_nodes_p?fail):\S*/gm
/** A change of memory by less than a tenth, or less than this, is ignored. */
const LEAST_MEMORY_BYTES = 4 * 1024 * 1024

/** Creates a watch without a process. `clock`: monotonic ms. */
export function watchEngine(clock = (): number => performance.now()): EngineWatch {
  const seen = nothingSeen()
  return {
    async look(probe, { startedAt, spec }) {
      // The former process's offset is kept until the next process reports one.
      if (seen.of !== startedAt) Object.assign(seen, nothingSeen(), { of: startedAt, stream: seen.stream })
      try {
        take(seen, await askFor(seen, probe, spec, clock()), clock())
        return true
      } catch {
        // It is unknown which of them were answered.
        Object.assign(seen, { changed: true, slowAt: 0 })
        return false
      }
    },
    state: () => seen.state,
    get changed() {
      return seen.changed
    },
    get struggles() {
      return seen.struggles
    },
    room: () => seen.room,
    stream: () => seen.stream,
    counters: () => seen.counters,
  }
}

/** Known state of one process. */
interface Seen {
  /** Time of its start. */
  of: number
  opened: number
  slowAt: number
  countersAt: number
  counters: EngineCounters | null
  classes: CommandClasses | null
  runId: string
  memory: number
  /** Relevant values of each of the two questions, and the text of the first. */
  slow: string
  often: string
  text: string
  fields: InfoFields
  state: string
  changed: boolean
  struggles: boolean
  room: ReturnType<EngineWatch['room']>
  stream: Stream | null
}

function nothingSeen(): Seen {
  return {
    of: 0,
    opened: 0,
    slowAt: 0,
    countersAt: 0,
    counters: null,
    classes: null,
    runId: '',
    memory: 0,
    slow: '',
    often: '',
    text: '',
    fields: {},
    state: '',
    changed: true,
    struggles: false,
    room: { connected: 0, most: null },
    stream: null,
  }
}

/** Answers of one look; `slow` and `cluster` are null if not asked. */
interface Heard {
  readonly opened: number
  readonly text: string
  readonly slow: string | null
  readonly isCounted: boolean
  readonly classes: CommandClasses | null
  readonly cluster: Reply
}

async function askFor(
  seen: Seen,
  probe: LookProbe,
  spec: ProcessRecord['spec'],
  now: number,
): Promise<Heard> {
  const { opened } = probe
  // A new connection may lead to another process with the same pid (DEBUG RESTART).
  const isSlow = now >= seen.slowAt || opened !== seen.opened
  const isCounted = isSlow && now >= seen.countersAt
  const { classes } = seen
  const often = readSections(probe, spec, OFTEN)
  if (!isSlow && !spec.cluster)
    return { opened, text: await often, slow: null, isCounted, classes, cluster: null }
  const [text, slow, asked, cluster] = await Promise.all([
    often,
    isSlow ? readSections(probe, spec, isCounted ? COUNTED_SLOW : SLOW) : null,
    isCounted && classes === null ? askClasses(probe) : classes,
    spec.cluster ? probe.call('CLUSTER', 'INFO') : null,
  ])
  return { opened, text, slow, isCounted, classes: asked, cluster }
}

/** An idle engine answers with the same text as in the look before, which is then not parsed. */
function take(seen: Seen, { opened, text, slow, isCounted, classes, cluster }: Heard, now: number): void {
  seen.changed = false
  if (text === seen.text && slow === null && cluster === null) return
  const before = seen.state
  if (slow !== null) {
    takeSlow(seen, pickInfo(slow, [...SLOW_FIELDS, 'used_memory']))
    Object.assign(seen, { slowAt: now + SLOW_EVERY_MS, opened })
  }
  if (text !== seen.text) takeOften(seen, text)
  seen.state = [seen.often, seen.slow, ...(String(cluster ?? '').match(OF_CLUSTER) ?? [])].join(' ')
  seen.changed = seen.state !== before
  seen.stream = streamOf(seen.fields, seen.runId)
  if (slow === null || !isCounted) return
  seen.classes = classes
  const calls = classes && countByClass(slow, classes)
  seen.counters = { ...readCounters(pickInfo(slow, COUNTED), seen.fields), ...calls }
  seen.countersAt = now + COUNTERS_EVERY_MS
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
  Object.assign(seen, { text, fields, often, struggles: doesStruggle(fields), room: roomOf(fields) })
}

function doesStruggle({
  role,
  master_link_status: link,
  rdb_last_bgsave_status: snapshot = 'ok',
  aof_last_bgrewrite_status: rewrite = 'ok',
}: InfoFields): boolean {
  return snapshot !== 'ok' || rewrite !== 'ok' || (role === 'slave' && link !== 'up')
}

function roomOf(fields: InfoFields): ReturnType<EngineWatch['room']> {
  const most = Number(fields['maxclients'] ?? Number.NaN)
  return { connected: numberOf(fields, 'connected_clients'), most: Number.isNaN(most) ? null : most }
}

/** Builds INFO with these sections; the same list is the same question. */
function infoOf(...sections: readonly string[]): readonly string[] {
  return ['INFO', ...sections]
}

/** Asks one question if the engine accepts several sections: Redis since 7, and every Valkey. */
async function readSections(
  probe: Pick<Probe, 'call' | 'callAgain'>,
  { build }: Pick<ProcessRecord['spec'], 'build'>,
  question: readonly string[],
): Promise<string> {
  if (takesSeveral(build)) return String(await probe.callAgain(question))
  const [command = '', ...sections] = question
  const texts = await Promise.all(sections.map((section) => probe.call(command, section)))
  return texts.join('\n')
}

function takesSeveral({ flavour, version }: ProcessRecord['spec']['build']): boolean {
  return flavour !== 'redis' || compareVersions(version, '7.0.0') >= 0
}

/** "ip=127.0.0.1,port=7002,state=online,offset=14,lag=0,type=replica" → address and if the stream flows. */
function withoutProgress(replica: string): string {
  const flows = !/\boffset=0\b/.test(replica)
  return `${replica.replace(/,offset=.*$/, '')},${flows}`
}

function streamOf(fields: InfoFields, runId: string): Stream | null {
  if (fields['role'] !== 'master' || fields['loading'] !== '0') return null
  return {
    runId,
    replid: fields['master_replid'] ?? '',
    offset: numberOf(fields, 'master_repl_offset'),
    writes: `${fields['rdb_changes_since_last_save']} ${fields['rdb_last_save_time']}`,
  }
}

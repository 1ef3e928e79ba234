import { compareVersions, type InfoFields, numberOf, pickInfo, type Reply, readInfo } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'
import { COUNTED, COUNTER_SECTIONS, type EngineCounters, readCounters } from './read-counters.ts'

/** The state that one engine process reports, read repeatedly. When something is different, the server reads the full state. */
export interface EngineWatch {
  /** Asks. False: there was no answer. Never throws for what the engine does: the probe says whether it answers. */
  look(probe: LookProbe, last: Pick<ProcessRecord, 'startedAt' | 'spec'>): Promise<boolean>
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

type LookProbe = Pick<Probe, 'call' | 'callAgain' | 'opened'>

/** The stream of a primary: which process, which history, bytes of it. */
export interface Stream {
  readonly runId: string
  readonly replid: string
  readonly offset: number
  /** Another text once something was written: engines put PINGs into the stream as well. */
  readonly writes: string
}

/** Asked for with each look: while nothing happens, engines answer with the same bytes. */
const OFTEN = infoOf('clients', 'persistence', 'replication')
/** Role and link, what it has loaded, saves and writes anew. */
const FIELDS = [
  ...['role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'],
  ...['master_replid', 'master_replid2', 'second_repl_offset', 'repl_backlog_active', 'repl_backlog_size'],
  ...['loading', 'async_loading', 'aof_enabled', 'aof_rewrite_in_progress', 'aof_rewrite_scheduled'],
  ...['aof_last_bgrewrite_status', 'rdb_bgsave_in_progress', 'rdb_last_bgsave_status', 'rdb_last_save_time'],
]
/** Asked for less often: memory values always change, and are half of the text of INFO. */
const SLOW = infoOf('server', 'memory')
const SLOW_EVERY_MS = 5_000
/** Its counters are asked for with these, and less often still. */
const COUNTED_SLOW = infoOf('server', 'memory', ...COUNTER_SECTIONS)
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
      try {
        take(seen, await askFor(seen, probe, spec, clock()), clock())
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
      return seen.struggles
    },
    room: () => seen.room,
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
  struggles: boolean
  room: ReturnType<EngineWatch['room']>
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
    ...{
      fields: {},
      state: '',
      changed: true,
      struggles: false,
      room: { connected: 0, most: null },
      stream: null,
    },
  }
}

/** What one look has heard; `slow` and `cluster` are null where it did not ask. */
interface Heard {
  readonly opened: number
  readonly text: string
  readonly slow: string | null
  readonly isCounted: boolean
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
  const often = readSections(probe, spec, OFTEN)
  if (!isSlow && !spec.cluster) return { opened, text: await often, slow: null, isCounted, cluster: null }
  const [text, slow, cluster] = await Promise.all([
    often,
    isSlow ? readSections(probe, spec, isCounted ? COUNTED_SLOW : SLOW) : null,
    spec.cluster ? probe.call('CLUSTER', 'INFO') : null,
  ])
  return { opened, text, slow, isCounted, cluster }
}

/** An idle engine answers with the very text of the look before, of which nothing is read. */
function take(seen: Seen, { opened, text, slow, isCounted, cluster }: Heard, now: number): void {
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
  seen.counters = readCounters(pickInfo(slow, COUNTED), seen.fields)
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

/** INFO with these sections; the same list is the same question. */
function infoOf(...sections: readonly string[]): readonly string[] {
  return ['INFO', ...sections]
}

/** One question, where the engine takes several sections in one: redis 7 and later, and every valkey. */
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

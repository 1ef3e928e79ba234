import type { ShardStatistics } from '@fairlead/api'
import { type InfoFields, numberOf } from '@fairlead/engine'

/** Current values of an engine, and counters since its start: the fields that a report has per second. */
export type EngineCounters = Omit<ShardStatistics, 'id'>

/** Sections of INFO, in addition to memory. */
export const COUNTER_SECTIONS = ['stats', 'keyspace', 'cpu', 'commandstats'] as const
/** Engines have 16 databases by default, and nearly all clients use the first. */
const KEYSPACES = Array.from({ length: 16 }, (_, n) => `db${n}`)
/** Requests that a user was not permitted, by reason. Redis before 7.2 does not count them. */
const DENIALS = ['acl_access_denied_cmd', 'acl_access_denied_key', 'acl_access_denied_channel'] as const
/** Fields to read from the sections. */
export const COUNTED: readonly string[] = [
  ...['used_memory', 'used_memory_rss', 'total_commands_processed', 'total_net_input_bytes'],
  ...['total_net_output_bytes', 'keyspace_hits', 'keyspace_misses', 'expired_keys', 'evicted_keys'],
  ...['used_cpu_user', 'used_cpu_sys'],
  ...DENIALS,
  ...KEYSPACES,
]

/** Reads `COUNTED` fields; `often` are those of the sections clients and replication. */
export function readCounters(fields: InfoFields, often: InfoFields): EngineCounters {
  const of = (name: string) => numberOf(fields, name)
  const spaces = KEYSPACES.flatMap((name) => fields[name] ?? [])
  return {
    role: often['role'] === 'slave' ? 'replica' : 'primary',
    connections: numberOf(often, 'connected_clients'),
    blocked: numberOf(often, 'blocked_clients'),
    keys: sum(spaces, /\bkeys=(\d+)/),
    expires: sum(spaces, /\bexpires=(\d+)/),
    usedMemory: of('used_memory'),
    residentMemory: of('used_memory_rss'),
    lagBytes: lagOf(often),
    commands: of('total_commands_processed'),
    bytesIn: of('total_net_input_bytes'),
    bytesOut: of('total_net_output_bytes'),
    hits: of('keyspace_hits'),
    misses: of('keyspace_misses'),
    expired: of('expired_keys'),
    evicted: of('evicted_keys'),
    ...(fields[DENIALS[0]] !== undefined && { denied: DENIALS.reduce((all, name) => all + of(name), 0) }),
    cpuUser: of('used_cpu_user'),
    cpuSystem: of('used_cpu_sys'),
  }
}

/** "keys=3,expires=1,avg_ttl=0" */
function sum(spaces: readonly string[], count: RegExp): number {
  return spaces.reduce((all, space) => all + Number(count.exec(space)?.[1] ?? 0), 0)
}

/** A replica acknowledges once a second. */
function lagOf(often: InfoFields): number {
  if (often['role'] !== 'master') return 0
  const offset = numberOf(often, 'master_repl_offset')
  const offsets = Object.keys(often)
    .filter((name) => /^slave\d+$/.test(name))
    .map((name) => Number(/\boffset=(\d+)/.exec(often[name] ?? '')?.[1] ?? offset))
  return Math.max(0, offset - Math.min(offset, ...offsets))
}

/** An engine gets a few commands a second from its agent, a server, and replicas that acknowledge. */
const OWN_COMMANDS_PER_SECOND = 10
/** Memory always changes slightly. */
const LEAST_MEMORY_SHARE = 0.01

const moved = [
  'role',
  'connections',
  'blocked',
  'keys',
  'expires',
  'hits',
  'misses',
  'expired',
  'evicted',
  'denied',
] as const

/** True if clients did nothing between these: the engine answered only Fairlead's few commands. */
export function isStill(before: EngineCounters, now: EngineCounters, seconds: number): boolean {
  return (
    moved.every((name) => before[name] === now[name]) &&
    now.lagBytes === 0 &&
    now.commands - before.commands <= OWN_COMMANDS_PER_SECOND * seconds &&
    Math.abs(now.usedMemory - before.usedMemory) <= LEAST_MEMORY_SHARE * before.usedMemory
  )
}

const counted = [
  ...(['commands', 'bytesIn', 'bytesOut', 'hits', 'misses'] as const),
  ...(['expired', 'evicted', 'cpuUser', 'cpuSystem', 'reads', 'writes', 'denied'] as const),
]

/** Returns the rates per second. `before` is null if nothing is known: of a process that has just begun. */
export function perSecond(
  before: EngineCounters | null,
  now: EngineCounters,
  seconds: number,
): Pick<EngineCounters, (typeof counted)[number]> {
  const known = counted.flatMap((name) => {
    const count = now[name]
    return count === undefined ? [] : [{ name, count }]
  })
  const rate = ({ name, count }: (typeof known)[number]) =>
    before === null || seconds <= 0 ? 0 : Math.max(0, count - (before[name] ?? count)) / seconds
  // Each name is one of the keys.
  return Object.fromEntries(known.map((one) => [one.name, rate(one)])) as ReturnType<typeof perSecond>
}

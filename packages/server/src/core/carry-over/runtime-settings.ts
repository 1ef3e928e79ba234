import { NODE_TIMEOUT, NODE_TIMEOUTS_MS } from '../state/node-timeouts.ts'
import { isOurs, readReplicaLimit } from './sync-room.ts'

/** Parameters of an engine, from CONFIG GET *. */
export type Parameters = Readonly<Record<string, string>>

export interface SettingsToCarry {
  /** Name in the target's spelling, and value. */
  readonly set: readonly (readonly [name: string, value: string])[]
  /** Set at run time on the source; missing in the target's build. */
  readonly unknown: readonly string[]
  /** Set at run time and different on the target, but bound to a process or node, so not carried. */
  readonly left: readonly string[]
}

/** Passwords. They are in no baseline, and are never carried. */
const secret = /^(masterauth|primaryauth|requirepass)$|-pass$/

/** Set by Fairlead or the engine while the process runs, or rewritten for each process. */
const managed = new Set([
  ...['replicaof', 'appendonly', 'masteruser', 'aclfile', 'port', 'bind', 'dir', 'dbfilename'],
  ...[
    'logfile',
    'pidfile',
    'unixsocket',
    'unixsocketperm',
    'maxmemory',
    'maxmemory-policy',
    'tls-replication',
    'replica-read-only',
  ],
])

/** Bound to one process, its node or its place in the group: possibly wrong for another process. */
const bound =
  /^(tls-|cluster-|rdma-|syslog-|min-replicas-|repl-ping-replica-period$|replica-announce|io-threads|bind-source-addr$|availability-zone$|.*cpulist$)/

/** Pairs of names for one parameter, besides slave/replica and ziplist/listpack (measured). */
const aliases: Readonly<Record<string, string>> = {
  primaryauth: 'masterauth',
  primaryuser: 'masteruser',
  'lua-time-limit': 'busy-reply-threshold',
  'commandlog-execution-slower-than': 'slowlog-log-slower-than',
  'commandlog-slow-execution-max-len': 'slowlog-max-len',
}

/** The larger value wins: Fairlead raises it before a restart, and it must not shrink. */
const growing = new Set(['repl-backlog-size'])

/** Returns the parameters to keep of a new process, without secrets, to find later changes. */
export function baselineOf(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !secret.test(name)))
}

/**
 * Finds settings made on the source since its `baseline` that are different on the target. Two names of one
 * parameter count as one; parameters managed by Fairlead or the engine are excluded. Requires a baseline.
 */
export function settingsToCarry(
  source: Parameters,
  baseline: Parameters,
  target: Parameters,
): SettingsToCarry {
  const [from, before, to] = [byParameter(source), byParameter(baseline), byParameter(target)]
  const changed = [...from.entries()]
    .filter(([parameter, { value }]) => before.has(parameter) && before.get(parameter)?.value !== value)
    .filter(([parameter]) => isShown(parameter))
    .filter(([parameter, { value }]) => !isForSync(parameter, value) && !isForGossip(parameter, value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const different = changed.filter(([parameter, { value }]) => {
    const there = to.get(parameter)
    return there !== undefined && !suffices(parameter, value, there.value)
  })
  const isBound = (parameter: string) => bound.test(parameter)
  return {
    set: different
      .filter(([parameter]) => !isBound(parameter))
      .map(([parameter, { given }]) => [to.get(parameter)?.name ?? parameter, given]),
    unknown: changed
      .filter(([parameter]) => !to.has(parameter) && !isBound(parameter))
      .map(([, { name }]) => name),
    left: [
      ...different.filter(([parameter]) => isBound(parameter)).map(([, { name }]) => name),
      ...changed
        .filter(([parameter]) => !to.has(parameter) && isBound(parameter))
        .map(([, { name }]) => name),
    ],
  }
}

function isShown(parameter: string): boolean {
  return !managed.has(parameter) && !secret.test(parameter)
}

/** True if a parameter set at run time is carried to other processes. */
export function isCarried(name: string): boolean {
  const parameter = parameterOf(name)
  return isShown(parameter) && !bound.test(parameter)
}

interface Parameter {
  /** Name for messages: the newer one of two. */
  readonly name: string
  /** For comparisons. */
  readonly value: string
  /** The value to set. */
  readonly given: string
}

function byParameter(parameters: Parameters): ReadonlyMap<string, Parameter> {
  const found = new Map<string, Parameter>()
  for (const [name, given] of Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const parameter = parameterOf(name)
    if (found.has(parameter) && name !== parameter) continue
    found.set(parameter, { name, value: meaningOf(parameter, given), given })
  }
  return found
}

function parameterOf(name: string): string {
  if (name === 'slaveof') return 'replicaof'
  const newer = name.replace('slave', 'replica').replace('ziplist', 'listpack')
  return aliases[newer] ?? newer
}

/** Normalizes a value: order of event classes, name of the replica class. */
function meaningOf(parameter: string, value: string): string {
  if (parameter === 'client-output-buffer-limit') return value.replaceAll(/\bslave\b/g, 'replica')
  if (parameter === 'notify-keyspace-events') return [...value].toSorted().join('')
  return value
}

/** True if Fairlead has set it for a running full sync; it is restored afterwards. */
function isForSync(parameter: string, value: string): boolean {
  const limit = parameter === 'client-output-buffer-limit' ? readReplicaLimit(value) : null
  return limit !== null && isOurs(limit)
}

/** True if Fairlead has set it in a large cluster. The next process begins with its own timeout. */
function isForGossip(parameter: string, value: string): boolean {
  return parameter === NODE_TIMEOUT && NODE_TIMEOUTS_MS.includes(Number(value))
}

function suffices(parameter: string, wanted: string, have: string): boolean {
  return wanted === have || (growing.has(parameter) && Number(have) >= Number(wanted))
}

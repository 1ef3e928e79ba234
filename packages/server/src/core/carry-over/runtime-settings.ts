import { NODE_TIMEOUT, NODE_TIMEOUTS_MS } from '../state/node-timeouts.ts'
import { isOurs, readReplicaLimit } from './sync-room.ts'

/** The parameters of an engine, as CONFIG GET * names them. */
export type Parameters = Readonly<Record<string, string>>

export interface SettingsToCarry {
  /** Name, as the target knows it, and value. */
  readonly set: readonly (readonly [name: string, value: string])[]
  /** Set at run time on the source; the target's build has no such parameter. */
  readonly unknown: readonly string[]
  /** Set at run time on the source, and different on the target; bound to a process or its node, so not carried. */
  readonly left: readonly string[]
}

/** Passwords. They are in no baseline, and are never carried. */
const secret = /^(masterauth|primaryauth|requirepass)$|-pass$/

/** Fairlead or the engine itself sets these while the process runs, or writes them again for each process. */
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

/**
 * Settings that belong to one process, its node or its place in the group. They may be wrong for another
 * process.
 */
const bound =
  /^(tls-|cluster-|rdma-|syslog-|min-replicas-|repl-ping-replica-period$|replica-announce|io-threads|bind-source-addr$|availability-zone$|.*cpulist$)/

/** Two names of one parameter, beyond slave/replica and ziplist/listpack. Measured: when one is set, the other changes. */
const aliases: Readonly<Record<string, string>> = {
  primaryauth: 'masterauth',
  primaryuser: 'masteruser',
  'lua-time-limit': 'busy-reply-threshold',
  'commandlog-execution-slower-than': 'slowlog-log-slower-than',
  'commandlog-slow-execution-max-len': 'slowlog-max-len',
}

/** Of these the larger one wins: Fairlead raises it before a restart, and it must not shrink. */
const growing = new Set(['repl-backlog-size'])

/** What is kept about a process that has just started, to know later which settings were made since. Without secrets. */
export function baselineOf(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !secret.test(name)))
}

/**
 * The settings made on the source since its `baseline` that are different on the target. Two names of one parameter count as one.
 * What Fairlead or the engine manages is left out. Without a baseline that is unknown: do not ask.
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

/** Tells whether a parameter that is set at run time is carried to other processes. */
export function isCarried(name: string): boolean {
  const parameter = parameterOf(name)
  return isShown(parameter) && !bound.test(parameter)
}

interface Parameter {
  /** The name for messages: the newer one, if there are two. */
  readonly name: string
  /** To be compared. */
  readonly value: string
  /** To be set. */
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

/** The same for values that mean the same: order of event classes, and the name of the class of replicas. */
function meaningOf(parameter: string, value: string): string {
  if (parameter === 'client-output-buffer-limit') return value.replaceAll(/\bslave\b/g, 'replica')
  if (parameter === 'notify-keyspace-events') return [...value].toSorted().join('')
  return value
}

/** Set by Fairlead for a full sync that runs, and restored after it. */
function isForSync(parameter: string, value: string): boolean {
  const limit = parameter === 'client-output-buffer-limit' ? readReplicaLimit(value) : null
  return limit !== null && isOurs(limit)
}

/** Set by Fairlead in a large cluster. The next process begins with a timeout of its own. */
function isForGossip(parameter: string, value: string): boolean {
  return parameter === NODE_TIMEOUT && NODE_TIMEOUTS_MS.includes(Number(value))
}

function suffices(parameter: string, wanted: string, have: string): boolean {
  return wanted === have || (growing.has(parameter) && Number(have) >= Number(wanted))
}

import type { Module } from '../modules/module.ts'
import { isAtLeast, mayEvictAnything } from '../plan/limit-orders.ts'
import type { Action } from '../state/action.ts'
import type { Database } from '../state/database.ts'
import { limitsOf } from '../state/engine-memory.ts'
import { type Refused, refusedForAll } from '../state/refused.ts'
import { dataBytes } from '../state/surge-bytes.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'
import { describeBusy } from './describe-busy.ts'
import { obstacleOfCapabilities } from './module-rules.ts'

/** Bytes of all groups together; 0 is unlimited. Undefined limits stay unchanged. */
export interface LimitsRequest {
  readonly memoryBytes: number | undefined
  readonly evictionPolicy: string | undefined
}

export interface LimitsSubject {
  readonly database: Database
  /** The running action of the database. */
  readonly action: Pick<Action, 'uid' | 'kind'> | undefined
  readonly seen: ObservedDatabase
  readonly catalogue: readonly Module[]
}

/** The database's new limits in bytes; `change`: they differ from the present ones. */
export interface NewLimits {
  readonly memoryBytes: number
  readonly evictionPolicy: string
  readonly change: boolean
}

/**
 * Returns the new limits of a database, or a refusal. During an upgrade the memory may be raised: the way out
 * for a database that needs more on the other build. Any other change is refused until its end, without other
 * obstacles.
 */
export function resolveLimits(request: LimitsRequest, subject: LimitsSubject): NewLimits | Refused {
  const { database } = subject
  const memoryBytes = request.memoryBytes ?? database.memoryBytes
  const evictionPolicy = request.evictionPolicy ?? database.evictionPolicy
  const hasOtherPolicy = evictionPolicy !== database.evictionPolicy
  const change = memoryBytes !== database.memoryBytes || hasOtherPolicy
  const wanted = { memoryBytes, evictionPolicy, change }
  if (!change) return wanted
  const raises = isAtLeast(memoryBytes, database.memoryBytes)
  // Other obstacles depend on that change, and may end with it.
  const running = busy(subject, raises && !hasOtherPolicy)
  if (running !== undefined) return running
  const obstacles = [
    ...(hasOtherPolicy ? strangeToModules(subject, evictionPolicy) : []),
    ...(raises ? lackOfMemory(subject, wanted) : lackOfRoom(subject, wanted)),
  ]
  return refusedForAll(obstacles) ?? wanted
}

function busy({ database, action }: LimitsSubject, onlyRaises: boolean): Refused | undefined {
  if (action === undefined || (action.kind === 'upgrade' && onlyRaises)) return undefined
  const besides = action.kind === 'upgrade' ? '; meanwhile memory_size can be raised, and nothing else' : ''
  return { refused: 'db_busy', message: `${describeBusy(database.name, action)}${besides}` }
}

function strangeToModules(
  { database, catalogue }: LimitsSubject,
  evictionPolicy: string,
): readonly Refused[] {
  const used = catalogue.filter(({ uid }) => database.modules.some((module) => module.uid === uid))
  return used.flatMap((module) => {
    const lacking = obstacleOfCapabilities(module, { ...database, evictionPolicy })
    return lacking === undefined ? [] : [{ ...lacking, field: 'eviction_policy' }]
  })
}

/** Checks that the node has the additional memory: each shard may fill it. */
function lackOfMemory({ database, seen }: LimitsSubject, wanted: NewLimits): readonly Refused[] {
  const [before, after] = [limitsOf(database), limitsOf({ ...database, ...wanted })]
  const shards = seen.groups.reduce((sum, group) => sum + group.shards.length, 0)
  const needed = after.shareBytes === 0 ? 0 : (after.shareBytes - before.shareBytes) * shards
  const free = Math.min(...seen.groups.map(({ node }) => node.memoryFreeBytes))
  if (needed <= free) return []
  const message = `memory_size: ${shards} shard(s) would need ${mb(needed)} MB more, and the node has ${mb(free)} MB free`
  return [{ refused: 'insufficient_resources', field: 'memory_size', message }]
}

/**
 * Refuses a limit below the data's size, which would refuse writes or evict keys immediately, unless the
 * policy may evict any key.
 */
function lackOfRoom({ database, seen }: LimitsSubject, wanted: NewLimits): readonly Refused[] {
  if (mayEvictAnything(wanted.evictionPolicy)) return []
  const silent = seen.groups.find(({ shards }) => !shards.some(isLive))
  if (silent !== undefined)
    return [
      {
        refused: 'unavailable',
        message: `no shard of group ${silent.group} reports how much it holds; try again`,
      },
    ]
  const { shareBytes } = limitsOf({ ...database, ...wanted })
  const largest = Math.max(...seen.groups.map(dataBytes))
  if (largest <= shareBytes) return []
  const enough = Math.ceil((largest * database.groups.length) / MB) * MB
  const where = database.groups.length === 1 ? '' : ' in its fullest group'
  const message = `memory_size: the database uses ${mb(largest)} MB${where}, and would have ${mb(shareBytes)} MB there; send ${enough} or more, or delete keys first (only under a policy allkeys-… would they be evicted)`
  return [{ refused: 'memory_size_too_small', field: 'memory_size', message }]
}

const MB = 1_000_000
const mb = (bytes: number) => (bytes < 100 * MB ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / MB))

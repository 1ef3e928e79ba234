import { Refusal, type RequestObstacle } from '@fairlead/api'
import { describeBusy } from '../../core/requests/describe-busy.ts'
import { type Database, hasEndpoint } from '../../core/state/database.ts'
import { isLive, type ObservedDatabase } from '../../core/state/topology.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'
import type { Endpoints } from './endpoints-service.ts'

/** The effects of a deletion. Null: unknown. Sizes in bytes. */
export interface DeletionPlan {
  readonly database: Database
  readonly obstacles: readonly RequestObstacle[]
  readonly clients: number | null
  readonly keys: number | null
  readonly shards: number
  readonly replicas: readonly number[]
  readonly standbys: readonly number[]
  readonly actionUid: string | null
  /** Unix milliseconds. */
  readonly savedAt: number | null
  readonly memoryUsedBytes: number | null
  readonly memoryReservedBytes: number
}

export type Deletions = ReturnType<typeof createDeletions>

/** Predicts the effects of deletions. `look` observes a database. Throws AgentUnreachable. */
export function createDeletions(deps: {
  readonly databases: Pick<Databases, 'get'>
  readonly endpoints: Pick<Endpoints, 'stats'>
  readonly look: (database: Database) => Promise<ObservedDatabase>
}) {
  const { databases, endpoints, look } = deps
  return {
    /** Changes nothing. Throws Refusal db_not_exist. */
    async foresee(uid: number): Promise<DeletionPlan> {
      const view = await databases.get(uid)
      const { database, shards, action } = view
      const primaries = database.groups.map(({ primaryShard }) => primaryShard)
      const followers = shards.filter(({ id }) => !primaries.includes(id))
      const standbys = followers.filter((shard) => isStandby(shard, view)).map(({ id }) => id)
      return {
        database,
        obstacles:
          action === undefined ? [] : [{ code: 'db_busy', message: describeBusy(database.name, action) }],
        clients: hasEndpoint(database) ? await orNull(countClients(endpoints, uid)) : null,
        ...tellOf(await orNull(look(database))),
        shards: shards.length,
        replicas: followers.map(({ id }) => id).filter((id) => !standbys.includes(id)),
        standbys,
        actionUid: action?.uid ?? null,
        memoryReservedBytes: database.memoryBytes * (1 + database.replicas),
      }
    },
  }
}

/** Returns whether it is an old primary of a running upgrade. */
function isStandby({ id }: { readonly id: number }, { action }: DatabaseView): boolean {
  return action?.kind === 'upgrade' && !action.goal.undo && action.goal.homes.includes(id)
}

async function countClients(endpoints: Pick<Endpoints, 'stats'>, uid: number): Promise<number> {
  return (await endpoints.stats(uid)).connections
}

/** Sums of the engines' reports; null if a needed one does not answer. */
function tellOf(seen: ObservedDatabase | null): Pick<DeletionPlan, 'keys' | 'savedAt' | 'memoryUsedBytes'> {
  if (seen === null) return { keys: null, savedAt: null, memoryUsedBytes: null }
  const primaries = seen.groups.map(({ shards, recordedPrimary }) =>
    shards.filter(isLive).find(({ id }) => id === recordedPrimary),
  )
  const all = seen.groups.flatMap(({ shards }) => shards)
  const saved = seen.groups.map(({ shards }) =>
    Math.max(...shards.filter(isLive).map(({ engine }) => engine.saving.lastAt ?? Number.NEGATIVE_INFINITY)),
  )
  const savedAt = Math.min(...saved)
  return {
    keys: sumOrNull(primaries.map((shard) => shard?.engine.keys ?? null)),
    savedAt: Number.isFinite(savedAt) ? savedAt : null,
    memoryUsedBytes: sumOrNull(all.map(({ engine }) => engine?.usedMemoryBytes ?? null)),
  }
}

function sumOrNull(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0)
}

/** An unreachable part only makes a plan less complete. */
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof Refusal || cause instanceof AgentUnreachable) return null
    throw cause
  }
}

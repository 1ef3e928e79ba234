import type { Database } from '../core/database.ts'
import type { SeenDatabase } from '../core/topology.ts'
import type { Deps } from './deps.ts'
import { observe } from './observe.ts'

/** What services may know of the world without touching it. */
export function createSight(deps: Deps): { look(database: Database): Promise<SeenDatabase> } {
  return { look: (database) => observe(database, deps, AbortSignal.timeout(LOOK_WITHIN_MS)) }
}

const LOOK_WITHIN_MS = 5_000

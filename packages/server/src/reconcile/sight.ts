import type { Build, TrialResult } from '@fairlead/api'
import { LEAST_BACKLOG_BYTES } from '../core/backlog-bytes.ts'
import type { Database } from '../core/database.ts'
import { replicationPath } from '../core/replication-paths.ts'
import type { SeenDatabase } from '../core/topology.ts'
import type { AgentLink } from '../nodes/agent-link.ts'
import type { Deps } from './deps.ts'
import { observe } from './observe.ts'
import { memoryOfShard } from './wish.ts'

/** What services may know of the world without touching it. `trials` is a link that waits for longer answers. */
export function createSight(
  deps: Deps,
  trials: AgentLink,
): {
  look(database: Database): Promise<SeenDatabase>
  tryBuild(database: Database, build: Build): Promise<TrialResult>
} {
  return {
    look: (database) => observe(database, deps, AbortSignal.timeout(LOOK_WITHIN_MS)),
    tryBuild: (database, build) =>
      trials.tryBuild({
        body: {
          build,
          cluster: database.cluster,
          rdbVersionCheck: replicationPath(database.build, build).relaxed ? 'relaxed' : 'strict',
          memoryBytes: memoryOfShard(database),
          evictionPolicy: database.evictionPolicy,
          persistence: database.persistence,
          aofFsync: database.aofFsync,
          snapshots: [...database.snapshots],
          backlogBytes: LEAST_BACKLOG_BYTES,
          modules: [],
          selfTest: [],
        },
      }),
  }
}

const LOOK_WITHIN_MS = 5_000

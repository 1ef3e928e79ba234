import type { BuildsOfNode } from '../builds/builds-of-node.ts'
import type { Probe } from '../engine/ask-engine.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import type { ModuleFiles } from '../folder/module-files.ts'
import type { ProcessRecord, ShardFolder } from '../folder/shard-folder.ts'
import type { ProcessIdentity } from '../process/process-identity.ts'
import type { StartedProcess } from '../process/started-process.ts'
import type { ActivityWatch } from '../process/watch-activity.ts'
import type { SilenceRules } from './see-silence.ts'

/** Parts needed by the acts on one shard. */
export interface ShardWorkplace {
  readonly folder: ShardFolder
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly probe: Probe
  readonly silence: SilenceRules
  /** Activity of the process while it is silent. */
  readonly activity: ActivityWatch
  readonly stopWithinMs: number
  readonly signal: AbortSignal
  /** Records the state of the last process, durably. */
  save(record: ProcessRecord): Promise<void>
  /** Process that answered over a connection of the probe; `at`: performance.now(). */
  proven: { readonly identity: ProcessIdentity; readonly opened: number; readonly at: number } | null
  /** The last process that this agent has started. */
  child: StartedProcess | null
  /** Reason why we killed the last process, if so. */
  killedBecause: string | null
  /** The last order of a snapshot: process, trace of the snapshot before it, and performance.now(). */
  ordered: { readonly startedAt: number; readonly before: string | null; readonly at: number } | null
  /** Process and limit of the last score set (oom-score.ts). */
  scored: string
}

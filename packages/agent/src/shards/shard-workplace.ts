import type { BuildsOfNode } from '../builds/builds-of-node.ts'
import type { Probe } from '../engine/ask-engine.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import type { ModuleFiles } from '../folder/module-files.ts'
import type { ProcessRecord, ShardFolder } from '../folder/shard-folder.ts'
import type { ProcessIdentity } from '../process/process-identity.ts'
import type { StartedProcess } from '../process/started-process.ts'
import type { ActivityWatch } from '../process/watch-activity.ts'
import type { SilenceRules } from './see-silence.ts'

/** What the acts on one shard need. */
export interface ShardWorkplace {
  readonly folder: ShardFolder
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly probe: Probe
  readonly silence: SilenceRules
  /** What the process does while it is silent. */
  readonly activity: ActivityWatch
  readonly stopWithinMs: number
  readonly signal: AbortSignal
  /** Records the state of the last process, durably. */
  save(record: ProcessRecord): Promise<void>
  /** Which process was there when it answered over which connection of the probe; by performance.now(). */
  proven: { readonly identity: ProcessIdentity; readonly opened: number; readonly at: number } | null
  /** The process that this agent has started last, if it was this agent. */
  child: StartedProcess | null
  /** Why we killed the last process, if we did. */
  killedBecause: string | null
  /** The process, and its limit, of which the kernel was told last (oom-score.ts). */
  scored: string
}

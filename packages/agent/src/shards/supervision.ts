import type { Logger } from 'pino'
import type { BuildsOfNode } from '../builds/builds-of-node.ts'
import type { Silence } from '../engine/decide-silent.ts'
import type { EngineWall } from '../engine/engine-wall.ts'
import type { EngineWatch } from '../engine/watch-engine.ts'
import type { SettingsWatch } from '../engine/watch-settings.ts'
import type { ModuleFiles } from '../folder/module-files.ts'
import type { ProcessRecord, WantedRecord } from '../folder/shard-folder.ts'
import type { DiskWatch } from '../folder/watch-disk.ts'
import type { TroubleWatch } from '../folder/watch-trouble.ts'
import type { Sleeper, Ticker } from '../process/ticker.ts'
import type { Attention } from './attention.ts'
import type { ChangeLog } from './changes.ts'
import type { View } from './describe-shard.ts'
import type { SilenceRules } from './see-silence.ts'
import type { ShardWorkplace } from './shard-workplace.ts'
import type { StatisticsLog } from './statistics-log.ts'
import type { StartTrace } from './trace-starts.ts'
import type { CrowdWatch } from './watch-crowd.ts'

/** Settings shared by all supervisors of a node; times in ms. */
export interface SupervisionSettings {
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly logger: Logger
  readonly silence: SilenceRules
  readonly stopWithinMs: number
  readonly changes: Pick<ChangeLog, 'shard' | 'offset' | 'gone'>
  readonly statistics: Pick<StatisticsLog, 'shard' | 'gone'>
  /** Moments for looks at running shards. */
  readonly ticker: Pick<Ticker, 'join'>
  /** Called when a process has begun or ended. */
  readonly onProcess: () => void
}

/** Changing state of a supervised shard. */
export interface ShardState {
  wanted: WantedRecord
  last: ProcessRecord | null
  view: View
  refusal: { readonly why: string; readonly until: number } | null
  /** Set while its process does not answer. */
  silence: Silence | null
  /** Start (Unix ms) of the process that the server wants ended, if it hangs. */
  toEnd: number | null
  readonly trouble: TroubleWatch
  readonly crowd: CrowdWatch
  readonly disk: DiskWatch
  readonly engine: EngineWatch
  readonly settings: SettingsWatch
  /** True if the last look has already read the engine's state. */
  isSeen: boolean
  readonly attention: Attention
  readonly starts: StartTrace
  /** Inputs of the last report to the server; empty before the first. */
  told: readonly unknown[]
  /** Ends the rest of the loop. */
  wake: () => void
}

/** A shard, with the means to act on it and to report. */
export interface Supervision {
  readonly state: ShardState
  readonly place: ShardWorkplace
  readonly log: Logger
  readonly end: AbortController
  readonly changes: SupervisionSettings['changes']
  readonly statistics: SupervisionSettings['statistics']
  readonly sleeper: Sleeper
  readonly onRemoved: () => void
}

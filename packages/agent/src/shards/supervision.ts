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
import type { Beat, Rests } from '../process/beat.ts'
import type { Attention } from './attention.ts'
import type { ChangeLog } from './changes.ts'
import type { View } from './describe-shard.ts'
import type { SilenceRules } from './see-silence.ts'
import type { ShardWorkplace } from './shard-workplace.ts'
import type { StatisticsLog } from './statistics-log.ts'
import type { StartTrace } from './trace-starts.ts'
import type { CrowdWatch } from './watch-crowd.ts'

/** What all supervisors of a node share; times are milliseconds. */
export interface SupervisionSettings {
  readonly builds: BuildsOfNode
  readonly modules: ModuleFiles
  readonly wall: EngineWall
  readonly logger: Logger
  readonly silence: SilenceRules
  readonly stopWithinMs: number
  readonly changes: Pick<ChangeLog, 'shard' | 'offset' | 'gone'>
  readonly statistics: Pick<StatisticsLog, 'shard' | 'gone'>
  /** Gives the moments at which running shards are looked at. */
  readonly beat: Pick<Beat, 'join'>
  /** A process has begun, or has ended. */
  readonly onProcess: () => void
}

/** What changes while a shard is supervised. */
export interface ShardState {
  wanted: WantedRecord
  last: ProcessRecord | null
  view: View
  refusal: { readonly why: string; readonly until: number } | null
  /** While its process does not answer. */
  silence: Silence | null
  /** The server wants the process that was started then to end, if it hangs. Unix milliseconds. */
  toEnd: number | null
  readonly trouble: TroubleWatch
  readonly crowd: CrowdWatch
  readonly disk: DiskWatch
  readonly engine: EngineWatch
  readonly settings: SettingsWatch
  /** By the last look: its engine has said how it is. */
  isSeen: boolean
  readonly attention: Attention
  readonly starts: StartTrace
  /** The values from which the last report to the server was made; empty before the first report. */
  told: readonly unknown[]
  /** Ends the rest of the loop. */
  wake: () => void
}

/** One shard, what is needed to act on it, and where what was seen is told. */
export interface Supervision {
  readonly state: ShardState
  readonly place: ShardWorkplace
  readonly log: Logger
  readonly end: AbortController
  readonly changes: SupervisionSettings['changes']
  readonly statistics: SupervisionSettings['statistics']
  readonly rests: Rests
  readonly onRemoved: () => void
}

import type { ShardDuty, WaitsOn } from '@fairlead/api'
import type { Obstacle } from './obstacle.ts'
import type { Step } from './topology.ts'

/** One group of an action as shown to people: past, present and future steps. */
export interface LaneRecord {
  readonly group: number
  readonly state: 'running' | 'waiting' | 'stuck' | 'done'
  readonly handedOver: boolean
  /** Null unless its state is `waiting` or `stuck`. */
  readonly waiting: WaitingSince | null
  /** In order of their begin; only the last one may run. */
  readonly steps: readonly TakenStep[]
  /** Number of the oldest steps that were dropped from `steps`. */
  readonly leftOut: number
  readonly toCome: readonly StepToCome[]
  /** Full sync that a shard receives. */
  readonly sync: SyncProgress | null
  /** Lag of the slowest follower; null if unknown. */
  readonly lagBytes: number | null
}

/** A wait while no work is done: in one group, or in a whole action. */
export interface Waiting extends Obstacle {
  readonly on: WaitsOn
  /** The awaited shard; null if there is no single one. */
  readonly shard: number | null
  /** Latest end by time (ISO 8601); null if unknown. */
  readonly until: string | null
  /** True if only a person can remove the obstacle. Waits for a person's order do not count. */
  readonly stuck: boolean
}

/** A recorded wait. */
export interface WaitingSince extends Waiting {
  /** ISO 8601. */
  readonly since: string
}

/** A step of a lane as shown to people. */
export interface StepToCome {
  readonly kind: Step['kind']
  /** "11", or "new-1" for a future shard; null without a single shard. In a handover, the successor. */
  readonly shard: string | null
  /** In a handover: the shard that gives the role. */
  readonly from: string | null
  readonly role: ShardDuty | null
  readonly why: string
}

/** A step that has begun. Times are ISO 8601. */
export interface TakenStep extends StepToCome {
  /** `left`: unfinished, another step came first. `failed`: it showed that the goal is unreachable. */
  readonly state: 'running' | 'done' | 'left' | 'failed'
  readonly began: string
  readonly ended: string | null
}

/** Bytes. `total` is null if the engine does not know it. */
export interface SyncProgress {
  readonly shard: number
  readonly done: number
  readonly total: number | null
  readonly bytesPerSecond: number | null
  /** Time of the observation (ISO 8601). */
  readonly at: string
}

/** Changes of a lane. Steps are indexed as in `listOf`. */
export interface LanePatch
  extends Partial<Pick<LaneRecord, 'state' | 'handedOver' | 'waiting' | 'leftOut' | 'sync' | 'lagBytes'>> {
  readonly group: number
  readonly steps?: Readonly<Record<string, ListedStep>>
  readonly stepsCount?: number
}

/** A step in the list of a lane. */
export type ListedStep = TakenStep | (StepToCome & { readonly state: 'planned' })

/** Returns all steps of a lane in order. */
export function listOf({ steps, toCome }: Pick<LaneRecord, 'steps' | 'toCome'>): readonly ListedStep[] {
  return [...steps, ...toCome.map((step) => ({ ...step, state: 'planned' as const }))]
}

const plainFields = ['state', 'handedOver', 'waiting', 'leftOut', 'sync', 'lagBytes'] as const

/** Returns the changes from `before` (undefined: none) to `after`, or undefined. */
export function patchOf(before: LaneRecord | undefined, after: LaneRecord): LanePatch | undefined {
  const [was, is] = [before === undefined ? [] : listOf(before), listOf(after)]
  const fields = plainFields.filter((field) => before === undefined || !isSame(before[field], after[field]))
  const steps = is.flatMap((step, n) => (isSame(was[n], step) ? [] : [[String(n), step] as const]))
  if (fields.length + steps.length === 0 && was.length === is.length) return undefined
  return {
    group: after.group,
    ...Object.fromEntries(fields.map((field) => [field, after[field]])),
    ...(steps.length > 0 && { steps: Object.fromEntries(steps) }),
    ...(was.length !== is.length && { stepsCount: is.length }),
  }
}

/** Merges two patches of one lane. */
export function mergePatches(first: LanePatch, second: LanePatch): LanePatch {
  const steps = { ...first.steps, ...second.steps }
  return { ...first, ...second, ...(Object.keys(steps).length > 0 && { steps }) }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

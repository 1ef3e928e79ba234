import type { ShardDuty, WaitsOn } from '@fairlead/api'
import type { Obstacle } from './obstacle.ts'
import type { Step } from './topology.ts'

/** One group of an action, as people follow it: what was done, is done and comes. */
export interface LaneRecord {
  readonly group: number
  readonly state: 'running' | 'waiting' | 'stuck' | 'done'
  readonly handedOver: boolean
  /** Null unless its state is `waiting` or `stuck`. */
  readonly waiting: WaitingSince | null
  /** In the order in which they began; only the last one may run. */
  readonly steps: readonly TakenStep[]
  /** The oldest steps that are not in `steps` any more. */
  readonly leftOut: number
  readonly toCome: readonly StepToCome[]
  /** A full sync that a shard receives. */
  readonly sync: SyncProgress | null
  /** Of the follower that is furthest behind; null: not known. */
  readonly lagBytes: number | null
}

/** What is waited for while nothing is being done: in one group, or in a whole action. */
export interface Waiting extends Obstacle {
  readonly on: WaitsOn
  /** The shard that is waited for; null: no single one. */
  readonly shard: number | null
  /** When it goes on by itself at the latest, ISO 8601; null: not known. */
  readonly until: string | null
  /** Only a person can remove what is in the way. A wait for an order of a person is none of these. */
  readonly stuck: boolean
}

/** A wait on record. */
export interface WaitingSince extends Waiting {
  /** ISO 8601. */
  readonly since: string
}

/** A step of a lane, as people name it. */
export interface StepToCome {
  readonly kind: Step['kind']
  /** "11", or "new-1" of a shard that is not there yet; null: no single shard. Of a handover, the successor. */
  readonly shard: string | null
  /** Of a handover: the shard that gives the role. */
  readonly from: string | null
  readonly role: ShardDuty | null
  readonly why: string
}

/** A step that has begun. Times are ISO 8601. */
export interface TakenStep extends StepToCome {
  /** `left`: it was not finished, because something else had to be done first. `failed`: it, or what came of it, showed that the goal cannot be reached. */
  readonly state: 'running' | 'done' | 'left' | 'failed'
  readonly began: string
  readonly ended: string | null
}

/** Bytes. `total` is null where the engine does not know it. */
export interface SyncProgress {
  readonly shard: number
  readonly done: number
  readonly total: number | null
  readonly bytesPerSecond: number | null
  /** When this was seen, ISO 8601. */
  readonly at: string
}

/** What changed of a lane. Steps are those of `listOf`, by their place in it. */
export interface LanePatch
  extends Partial<Pick<LaneRecord, 'state' | 'handedOver' | 'waiting' | 'leftOut' | 'sync' | 'lagBytes'>> {
  readonly group: number
  readonly steps?: Readonly<Record<string, ListedStep>>
  readonly stepsCount?: number
}

/** A step in the list of a lane. */
export type ListedStep = TakenStep | (StepToCome & { readonly state: 'planned' })

/** All steps of a lane, in their order. */
export function listOf({ steps, toCome }: Pick<LaneRecord, 'steps' | 'toCome'>): readonly ListedStep[] {
  return [...steps, ...toCome.map((step) => ({ ...step, state: 'planned' as const }))]
}

const plainFields = ['state', 'handedOver', 'waiting', 'leftOut', 'sync', 'lagBytes'] as const

/** What leads from `before` (undefined: there was none) to `after`; undefined: nothing changed. */
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

/** Two patches of one lane as one. */
export function mergePatches(first: LanePatch, second: LanePatch): LanePatch {
  const steps = { ...first.steps, ...second.steps }
  return { ...first, ...second, ...(Object.keys(steps).length > 0 && { steps }) }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

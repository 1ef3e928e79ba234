import type { ShardDuty } from '@fairlead/api'
import { revisionOf } from '../state/goal.ts'
import type { LaneRecord, StepToCome, SyncProgress, TakenStep, Waiting } from '../state/lane-record.ts'
import type { Obstacle } from '../state/obstacle.ts'
import {
  type Goal,
  isLive,
  type ObservedGroup,
  type ObservedShard,
  type Step,
  type Verdict,
} from '../state/topology.ts'
import { hasHandedOver } from '../state/way-back.ts'
import { since, waitOf } from './wait-of.ts'

/** Findings of a turn in one group. */
export interface LaneNews {
  readonly verdict: Verdict
  readonly seen: ObservedGroup
  readonly goal: Goal
  /** Reason for the failure of its due step at the last attempt. */
  readonly held: Obstacle | undefined
  /** End of the rollback window by time (ISO 8601); null if there is none, or it is not open. */
  readonly windowEnds: string | null
  /** Future steps, including the due one; undefined if not computed in this turn. */
  readonly toCome: readonly StepToCome[] | undefined
  /** True if followers' progress should be recorded. */
  readonly isTimeForLag: boolean
  /** ISO 8601. */
  readonly at: string
}

/** Limit of recorded steps: a repeatedly repaired lane must not grow without end. */
const MOST_STEPS = 60

/** Returns the record of a lane after this turn's look. `before` undefined: first record. */
export function advanceLane(before: LaneRecord | undefined, news: LaneNews): LaneRecord {
  const { verdict, seen, goal, held, windowEnds, at } = news
  // The postponed step may be another one than the due one.
  const isTriedAgain = verdict.kind === 'do' && isRunning(before, nameStep(verdict.step, seen, goal))
  const wait = waitOf(verdict, isTriedAgain ? held : undefined, windowEnds)
  const waiting = since(wait, before?.waiting ?? null, at)
  const steps = judgeLast(advanceSteps(before?.steps ?? [], news), waiting, before?.waiting ?? null)
  const leftOut = Math.max(0, steps.length - MOST_STEPS)
  return {
    group: seen.group,
    state:
      verdict.kind === 'done' ? 'done' : waiting === null ? 'running' : waiting.stuck ? 'stuck' : 'waiting',
    handedOver: goal.from !== null && !goal.undo && hasHandedOver(seen, goal),
    waiting,
    steps: steps.slice(leftOut),
    leftOut: (before?.leftOut ?? 0) + leftOut,
    toCome: comingSteps(before, news),
    sync: syncOf(seen, before?.sync ?? null, news),
    lagBytes: news.isTimeForLag || before === undefined ? lagOf(seen) : before.lagBytes,
  }
}

/** Returns the record of a lane whose goal is unreachable, as shown by its last step or its result. */
export function failLane(lane: LaneRecord, at: string): LaneRecord {
  const last = lane.steps.at(-1)
  if (last === undefined) return lane
  return {
    ...lane,
    steps: [...lane.steps.slice(0, -1), { ...last, state: 'failed', ended: last.ended ?? at }],
  }
}

function isRunning(before: LaneRecord | undefined, due: StepToCome): boolean {
  const last = before?.steps.at(-1)
  return last?.state === 'running' && isSameStep(due, last)
}

/** Ends the running step if it is not due any more, and begins the due one. */
function advanceSteps(
  steps: readonly TakenStep[],
  { verdict, seen, goal, held, at }: LaneNews,
): readonly TakenStep[] {
  const due = verdict.kind === 'do' ? nameStep(verdict.step, seen, goal) : undefined
  const last = steps.at(-1)
  if (last?.state !== 'running') return due === undefined ? steps : [...steps, begin(due, at)]
  if (due !== undefined && isSameStep(due, last)) return steps
  const ended = [...steps.slice(0, -1), end(last, seen, held, at)]
  return due === undefined ? ended : [...ended, begin(due, at)]
}

/** If a started shard gets stuck, its step counts as failed for as long as a person is waited for. */
function judgeLast(steps: readonly TakenStep[], waiting: Waiting | null, before: Waiting | null) {
  const last = steps.at(-1)
  if (last === undefined || !starts.includes(last.kind)) return steps
  const isWhy = (wait: Waiting | null) => wait?.stuck === true && String(wait.shard) === last.shard
  if (isWhy(waiting) && last.state === 'done')
    return [...steps.slice(0, -1), { ...last, state: 'failed' as const }]
  // A step that failed otherwise is the reason for taking the upgrade back, and stays failed.
  if (!isWhy(waiting) && isWhy(before) && last.state === 'failed')
    return [...steps.slice(0, -1), { ...last, state: 'done' as const }]
  return steps
}

const starts: readonly StepToCome['kind'][] = ['add-shard', 'start-shard', 'restart-shard', 'restart-primary']

function begin(step: StepToCome, at: string): TakenStep {
  return { ...step, state: 'running', began: at, ended: null }
}

/**
 * Ends a step. A handover is done if the recorded primary shows it; other steps that are no longer due, and
 * were not postponed, have had their effect.
 */
function end(
  step: TakenStep,
  { shards, recordedPrimary }: ObservedGroup,
  held: Obstacle | undefined,
  at: string,
): TakenStep {
  const isDone = step.kind === 'hand-over' ? String(recordedPrimary) === step.shard : held === undefined
  const newest = Math.max(...shards.map(({ id }) => id))
  const shard = step.kind === 'add-shard' && isDone && shards.length > 0 ? String(newest) : step.shard
  return { ...step, shard, state: isDone ? 'done' : 'left', ended: at }
}

/** Between two forecasts: the last forecast without the step that began. */
function comingSteps(
  before: LaneRecord | undefined,
  { toCome, verdict, seen, goal }: LaneNews,
): readonly StepToCome[] {
  if (verdict.kind === 'done') return []
  const known = toCome ?? before?.toCome ?? []
  if (verdict.kind !== 'do') return known
  const due = nameStep(verdict.step, seen, goal)
  const n = known.findIndex((step) => isSameStep(due, step))
  return n < 0 ? known : known.toSpliced(n, 1)
}

function isSameStep(one: StepToCome, other: StepToCome): boolean {
  if (one.kind !== other.kind) return false
  return one.shard === other.shard || one.kind === 'add-shard' || other.shard?.startsWith(NEW) === true
}

/** Prefix of future shards: new-1, new-2, … in each group. */
const NEW = 'new-'

/** Names foreseen steps of one group for people. Shards missing in `seen` are numbered in their order. */
export function nameComing(steps: readonly Step[], seen: ObservedGroup, goal: Goal): readonly StepToCome[] {
  const names = new Map(seen.shards.map(({ id }) => [id, String(id)]))
  let added = 0
  const nameOf = (id: number) => {
    const known = names.get(id)
    if (known !== undefined) return known
    added += 1
    names.set(id, `${NEW}${added}`)
    return `${NEW}${added}`
  }
  const newcomer = isMoved(seen, goal) ? 'replica' : 'surge'
  return steps.map((step) => {
    const { kind, role, from } = nameStep(step, seen, goal)
    const id = step.kind === 'hand-over' ? step.to : 'shard' in step ? step.shard : null
    const shard = id === null ? null : nameOf(id)
    const why = step.why.replaceAll(/\bshard (\d+)\b/g, (_, one: string) => `shard ${nameOf(Number(one))}`)
    return {
      kind,
      why,
      shard,
      from: from === null ? null : nameOf(Number(from)),
      role: role ?? (shard === null ? null : newcomer),
    }
  })
}

/** Names a step of the plan for people. */
export function nameStep(step: Step, seen: ObservedGroup, goal: Goal): StepToCome {
  const named = { kind: step.kind, why: step.why }
  if (step.kind === 'hand-over')
    return { ...named, shard: String(step.to), from: String(step.from), role: dutyOf(step.to, seen, goal) }
  if (step.kind === 'add-shard')
    return { ...named, shard: null, from: null, role: isMoved(seen, goal) ? 'replica' : 'surge' }
  const shard = 'shard' in step ? step.shard : null
  return {
    ...named,
    shard: shard === null ? null : String(shard),
    from: null,
    role: dutyOf(shard, seen, goal),
  }
}

/** Returns the present duty of a shard in its group; null if there is no such single shard. */
export function dutyOf(id: number | null, seen: ObservedGroup, goal: Goal): ShardDuty | null {
  const shard = seen.shards.find((one) => one.id === id)
  if (shard === undefined) return null
  if (shard.leaving) return 'leaving'
  if (shard.id === seen.recordedPrimary) return 'primary'
  if (goal.from === null) return 'replica'
  const isNew = revisionOf(shard.wanted) === revisionOf(goal.undo ? goal.from : goal)
  if (isNew) return !goal.undo && isMoved(seen, goal) ? 'replica' : 'surge'
  return isMoved(seen, goal) && isHome(shard, goal) ? 'standby' : 'replica'
}

function isHome({ id }: ObservedShard, goal: Goal): boolean {
  return goal.homes.includes(id)
}

/** True if the primary is on the revision that the upgrade leads to. */
function isMoved(seen: ObservedGroup, goal: Goal): boolean {
  if (goal.from === null) return true
  return goal.undo ? !hasHandedOver(seen, goal) : hasHandedOver(seen, goal)
}

/** Returns the progress of the first shard that receives a full sync. */
function syncOf(
  { shards }: ObservedGroup,
  before: SyncProgress | null,
  { isTimeForLag, at }: LaneNews,
): SyncProgress | null {
  const receiving = shards.filter(isLive).find(({ engine }) => engine.sync != null)
  if (receiving?.engine.sync == null) return null
  const shard = receiving.id
  const last = before?.shard === shard ? before : null
  if (!isTimeForLag && last !== null) return last
  const { done, total } = receiving.engine.sync
  const seconds = last === null ? 0 : (Date.parse(at) - Date.parse(last.at)) / 1000
  const grown = last === null ? -1 : done - last.done
  return {
    shard,
    done,
    total,
    bytesPerSecond: seconds > 0 && grown >= 0 ? Math.round(grown / seconds) : null,
    at,
  }
}

/** Returns the lag of the slowest follower that has its primary's history. */
function lagOf({ shards, recordedPrimary }: ObservedGroup): number | null {
  const primary = shards.filter(isLive).find(({ id }) => id === recordedPrimary)
  if (primary === undefined) return null
  const followers = shards
    .filter(isLive)
    .filter(({ engine }) => engine.role === 'replica' && engine.replid === primary.engine.replid)
  if (followers.length === 0) return null
  return Math.max(0, ...followers.map(({ engine }) => primary.engine.offset - engine.offset))
}

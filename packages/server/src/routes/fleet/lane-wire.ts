import {
  type ActionLane,
  type LaneStep,
  type LanePatch as PatchAnswer,
  stepWords,
  type Waiting as WaitingAnswer,
} from '@fairlead/api'
import type { WaitingSince } from '../../core/state/lane-record.ts'
import { type LanePatch, type LaneRecord, type ListedStep, listOf } from '../../core/state/lane-record.ts'

/** The current wait on the wire. */
export function waitingToWire({ on, code, shard, since, until, why }: WaitingSince): WaitingAnswer {
  return { on, hold_reason: code, shard: shard === null ? null : String(shard), since, until, why }
}

/** A lane on the wire. */
export function laneToWire(lane: LaneRecord): ActionLane {
  return {
    group: lane.group,
    state: lane.state,
    handed_over: lane.handedOver,
    waiting: lane.waiting && waitingToWire(lane.waiting),
    steps: listOf(lane).map(stepToWire),
    steps_left_out: lane.leftOut,
    sync: lane.sync && syncToWire(lane.sync),
    lag_bytes: lane.lagBytes,
  }
}

/** Changed fields of a lane on the wire. */
export function patchToWire(patch: LanePatch): PatchAnswer {
  const { group, state, handedOver, waiting, leftOut, sync, lagBytes, steps, stepsCount } = patch
  return {
    group,
    ...(state !== undefined && { state }),
    ...(handedOver !== undefined && { handed_over: handedOver }),
    ...(waiting !== undefined && { waiting: waiting && waitingToWire(waiting) }),
    ...(leftOut !== undefined && { steps_left_out: leftOut }),
    ...(sync !== undefined && { sync: sync && syncToWire(sync) }),
    ...(lagBytes !== undefined && { lag_bytes: lagBytes }),
    ...(steps !== undefined && {
      steps: Object.fromEntries(Object.entries(steps).map(([n, step]) => [n, stepToWire(step)])),
    }),
    ...(stepsCount !== undefined && { steps_count: stepsCount }),
  }
}

function syncToWire({ shard, done, total, bytesPerSecond }: NonNullable<LaneRecord['sync']>) {
  return { shard: String(shard), done, total, bytes_per_s: bytesPerSecond }
}

function stepToWire(step: ListedStep): LaneStep {
  const { kind, shard, from, role, state, why } = step
  const times =
    step.state === 'planned' ? { began: null, ended: null } : { began: step.began, ended: step.ended }
  return { op_name: kind, label: stepWords[kind].label, shard, from, role, state, ...times, why }
}

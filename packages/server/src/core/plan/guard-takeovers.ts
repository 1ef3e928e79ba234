import type { Lane } from '../state/lane.ts'
import { findGroup, type ObservedDatabase, type Step, type Verdict } from '../state/topology.ts'
import { findClaimant, findStrangers, nameStranger } from './strangers.ts'

/**
 * Limits takeovers, which all groups learn of in cluster mode. No role moves in a group while any shard
 * believes that a foreign node has its slots: that node is forgotten first. Unplanned moves (replacing a lost
 * primary, taking slots back) happen in one group at a time, each decided on a new observation.
 */
export function guardTakeovers(lanes: readonly Lane[], seen: ObservedDatabase): readonly Lane[] {
  const strangers = findStrangers(seen)
  let first: number | undefined
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (verdict.kind !== 'do') return lane
    const { step } = verdict
    const claimant = moves(step) ? findClaimant(findGroup(seen, group), strangers) : undefined
    if (claimant !== undefined)
      return { group, verdict: wait(step, `${nameStranger(claimant)} has slots of`) }
    if (step.kind !== 'promote' && step.kind !== 'take-back') return lane
    first ??= group
    if (first === group) return lane
    const why = `group ${first} is repaired first: unplanned moves of roles happen in one group at a time`
    return { group, verdict: { kind: 'hold', on: 'group', code: 'other_groups', why } }
  })
}

type Move = Extract<Step, { kind: 'promote' | 'hand-over' | 'assign-slots' }>

function moves(step: Step): step is Move {
  return ['promote', 'hand-over', 'assign-slots'].includes(step.kind)
}

function wait(step: Step, whose: string): Verdict {
  const shard = step.kind === 'hand-over' ? step.to : 'shard' in step ? step.shard : 0
  const why = `${whose} the group and is no shard of the database: no role moves before it is forgotten (docs/explain/strangers.md)`
  return { kind: 'wait', shard, code: 'cluster_stranger', why }
}

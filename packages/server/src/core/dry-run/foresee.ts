import { planDatabase } from '../plan/plan-database.ts'
import { type Allowed, unrestricted } from '../state/orders.ts'
import {
  type Goal,
  isAt,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
  type Step,
} from '../state/topology.ts'
import { applyToDatabase, convergeDatabase } from './simulate.ts'

/** A future step, and its group. */
export interface Foreseen {
  readonly group: number
  readonly step: Step
  /** Processes of the group with its data right after this step, before other changes. */
  readonly copies: number
}

/** Counts processes of a group with its data: those that answer, except one that has not joined yet. */
export function copiesIn({ shards }: ObservedGroup): number {
  return shards.filter((shard) => isLive(shard) && shard.engine.role !== 'blank').length
}

/**
 * Returns the steps from `seen` to `goal` if all goes as expected and every approval is given: the plan shown
 * to people, and the measure of progress. Every wait counts as over; ends early if an obstacle blocks the
 * plan. Groups are simulated separately, because they compete for time, not for steps, and 64 together would
 * take a second in each look.
 */
export function foresee(
  seen: ObservedDatabase,
  goal: Goal,
  allowed: Allowed = unrestricted,
): readonly Foreseen[] {
  const ids = seen.groups.flatMap(({ shards }) => shards.map(({ id }) => id))
  const steps: Foreseen[] = []
  let next = Math.max(0, ...ids)
  for (const group of seen.groups) {
    const lane = foreseeLane(alone(group), goal, allowed, next)
    next += lane.filter(({ step }) => step.kind === 'add-shard').length
    steps.push(...lane)
  }
  return steps
}

function foreseeLane(
  seen: ObservedGroup,
  goal: Goal,
  allowed: Allowed,
  highestId: number,
): readonly Foreseen[] {
  const steps: Foreseen[] = []
  let world: ObservedDatabase = { groups: [seen] }
  let highest = highestId
  while (steps.length < MOST_STEPS) {
    const due = planDatabase(world, goal, allowed).flatMap(({ group, verdict }) =>
      verdict.kind === 'do' ? [{ group, step: verdict.step }] : [],
    )
    const applied = due.reduce((at, { group, step }) => applyToDatabase(at, group, step, highest), world)
    const next = convergeDatabase(applied)
    const copies = applied.groups.reduce((least, group) => Math.min(least, copiesIn(group)), Number.MAX_VALUE)
    if (due.length === 0 && next === world) return steps
    highest += due.filter(({ step }) => step.kind === 'add-shard').length
    steps.push(...due.map((one) => ({ ...one, copies })))
    world = next
  }
  return steps
}

/** Returns the group as if the database, and its cluster, had only this group. */
function alone(group: ObservedGroup): ObservedGroup {
  return { ...group, shards: group.shards.map((shard) => knowingOnly(group.shards, shard)) }
}

function knowingOnly(shards: readonly ObservedShard[], shard: ObservedShard): ObservedShard {
  const view = shard.engine?.cluster
  if (shard.engine === null || view == null) return shard
  const own = new Set(shards.flatMap(({ engine }) => engine?.cluster?.id ?? []))
  const nodes = view.nodes.filter(
    ({ id, address }) => own.has(id) || shards.some((one) => isAt(address, one)),
  )
  return { ...shard, engine: { ...shard.engine, cluster: { ...view, nodes } } }
}

/** Far more steps than a group needs (about a dozen): a plan without end is a bug, and must not loop. */
const MOST_STEPS = 200

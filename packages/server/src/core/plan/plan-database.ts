import { revisionOf } from '../state/goal.ts'
import type { Lane } from '../state/lane.ts'
import type { Obstacle } from '../state/obstacle.ts'
import type { Allowed } from '../state/orders.ts'
import { surgeBytes } from '../state/surge-bytes.ts'
import {
  findGroup,
  type Goal,
  isLinked,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type Step,
  type Verdict,
} from '../state/topology.ts'
import { guardClusterFiles } from './guard-cluster-files.ts'
import { mostAtOnce } from './most-at-once.ts'
import { planCluster, planIntroduction, planWhole } from './plan-cluster.ts'
import { planGroup, type Stage } from './plan-group.ts'
import { rationDepartures } from './ration-departures.ts'
import { rationGreetings } from './ration-greetings.ts'
import { rationJoins } from './ration-joins.ts'
import { findClaimant, findStrangers, nameStranger } from './strangers.ts'

/**
 * Returns the next verdict for each group on the way to the goal; their steps may run concurrently. Groups
 * are planned separately (plan-group.ts); this function divides what they share:
 * 1. The first group is the canary. No other hands over before all are ready.
 * 2. No group finalizes before all have handed over, so that all can go back.
 * 3. Roles move sequentially (the caller ensures that).
 * 4. At most the allowed number of shards is upgraded at the same time; groups that have begun come first.
 * 5. The node's memory is given to one group only.
 */
export function planDatabase(seen: ObservedDatabase, goal: Goal, allowed: Allowed): readonly Lane[] {
  const chores = goal.cluster && goal.kind === 'keep' ? planCluster(seen) : new Map<number, Verdict>()
  const planned = seen.groups.map((group): Lane => {
    const chore = chores.get(group.group)
    return { group: group.group, verdict: chore ?? planLane(group, seen, goal, allowed) }
  })
  if (goal.kind === 'remove') return planned
  const shared = describeReadiness(share(gather(planned, seen, goal), seen, goal), goal)
  if (!goal.cluster) return shared
  const joining = goal.from === null ? rationJoins(shared, seen) : shared
  const rationed = rationDepartures(rationGreetings(joining, seen), seen)
  return guardClusterFiles(guardTakeovers(rationed, seen), seen)
}

/** Reason shown by a paused upgrade. */
export const whyPaused = 'it is paused; it goes on when a user resumes it'

function planLane(group: ObservedGroup, seen: ObservedDatabase, goal: Goal, allowed: Allowed): Verdict {
  const { stage, held } = chooseStage(group, seen, goal, allowed)
  const verdict = planGroup(group, goal, stage)
  if (verdict.kind === 'done' && goal.kind === 'keep') return planWhole(group, seen) ?? verdict
  return verdict.kind === 'hold' ? held : verdict
}

/** Returns how far the group may go, and the verdict beyond that. */
function chooseStage(
  group: ObservedGroup,
  { groups }: ObservedDatabase,
  goal: Goal,
  allowed: Allowed,
): { readonly stage: Stage; readonly held: Verdict } {
  const held = (on: 'person' | 'time' | 'group', code: Obstacle['code'], why: string): Verdict => ({
    kind: 'hold',
    on,
    code,
    why,
  })
  if (allowed.paused) {
    return { stage: 'repair', held: held('person', 'paused', whyPaused) }
  }
  const [canary] = groups
  const waitsForCanary = goal.policy.canary && !goal.undo && canary !== undefined && canary !== group
  if (waitsForCanary && isNotUpgraded(canary, goal)) {
    const why = `group ${canary.group} goes first; this one begins when it has handed over`
    // A group that began before the canary fell back continues until its surge shard is ready: the canary may
    // wait for it.
    return { stage: hasBegun(group, goal) ? 'surge' : 'repair', held: held('group', 'canary', why) }
  }
  if (!allowed.mayHandOver) {
    return { stage: 'surge', held: held('person', 'supervised', whySupervised) }
  }
  const notUpgraded = groups.find((other) => isNotUpgraded(other, goal))
  if (notUpgraded !== undefined && notUpgraded !== group) {
    const why = `nothing old is given up before group ${notUpgraded.group} has handed over too`
    return { stage: 'handover', held: held('group', 'other_groups', why) }
  }
  return { stage: allowed.mayFinalize ? 'end' : 'handover', held: { kind: 'hold', ...allowed.onFinalize } }
}

/** True if the group's primary is on another revision than the goal's. */
function isNotUpgraded({ shards, recordedPrimary }: ObservedGroup, goal: Goal): boolean {
  const primary = shards.find((shard) => shard.id === recordedPrimary)
  return primary !== undefined && primary.revision !== revisionOf(goal)
}

/**
 * Holds role moves until every group has a successor: then they are close together, and a group that cannot
 * be upgraded is found before another has handed over. Exempt: the canary and rollbacks. Groups that need a
 * person do not block the others.
 */
function gather(lanes: readonly Lane[], seen: ObservedDatabase, goal: Goal): readonly Lane[] {
  const [canary] = seen.groups
  const notUpgraded = new Set(
    seen.groups.filter((group) => isNotUpgraded(group, goal)).map(({ group }) => group),
  )
  const coming = lanes.find(
    ({ group, verdict }) =>
      notUpgraded.has(group) &&
      !movesRole(verdict) &&
      verdict.kind !== 'stuck' &&
      verdict.kind !== 'hopeless',
  )
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (!movesRole(verdict)) return lane
    const isExempt = goal.undo || !notUpgraded.has(group) || (goal.policy.canary && group === canary?.group)
    if (coming !== undefined && !isExempt)
      return {
        group,
        verdict: holdFor(
          'other_groups',
          `roles move when all groups are ready; group ${coming.group} is not ready yet`,
        ),
      }
    if (!goal.cluster || verdict.step.kind !== 'hand-over') return lane
    return { group, verdict: planIntroduction(verdict.step, findGroup(seen, group), seen) ?? verdict }
  })
}

function movesRole(verdict: Verdict): verdict is Verdict & { readonly kind: 'do'; readonly step: Move } {
  return (
    verdict.kind === 'do' && (verdict.step.kind === 'hand-over' || verdict.step.kind === 'restart-primary')
  )
}

type Move = Extract<Step, { kind: 'hand-over' | 'restart-primary' }>

/** Distributes shared resources among groups in order, those that have begun first. */
function share(lanes: readonly Lane[], database: ObservedDatabase, goal: Goal): readonly Lane[] {
  const { groups } = database
  const inHand = groups.map((group) => countInHand(group, goal))
  const limit = mostInHand(goal, groups.length)
  let free = limit - inHand.reduce((sum, count) => sum + count, 0)
  const memory = Math.min(...groups.map(({ node }) => node.memoryFreeBytes))
  let taken = 0 // in this turn: from the next one on it is reserved, and not counted as free
  const handsOver = groups.some(({ handover }) => handover !== null && !handover.released)
  const given = new Map<number, Verdict>()
  const begun = (lane: Lane) =>
    Number(groups.some((seen) => seen.group === lane.group && hasBegun(seen, goal)))
  for (const lane of lanes.toSorted((a, b) => begun(b) - begun(a))) {
    const { verdict } = lane
    const seen = findGroup(database, lane.group)
    given.set(lane.group, verdict)
    if (verdict.kind !== 'do') continue
    const { kind } = verdict.step
    if (kind === 'hand-over' && handsOver)
      given.set(lane.group, holdFor('other_groups', 'another group is handing over'))
    if (kind !== 'add-shard' && kind !== 'restart-shard') continue
    if (free <= 0)
      given.set(
        lane.group,
        holdFor('parallel_limit', `${limit} shard(s) are being upgraded already (parallel_shards_upgrade)`),
      )
    else if (kind === 'add-shard' && taken > 0 && memory - taken < surgeBytes(seen))
      given.set(lane.group, holdFor('node_room', 'another group gets the memory of the node first'))
    else {
      free -= 1
      taken += kind === 'add-shard' ? surgeBytes(seen) : 0
    }
  }
  return lanes.map(({ group, verdict }) => ({ group, verdict: given.get(group) ?? verdict }))
}

/** Returns the requested limit; default: the number of groups, or of shards that may join (cluster mode). */
function mostInHand({ policy, cluster, from, replicas }: Goal, groups: number): number {
  if (policy.parallel > 0) return policy.parallel
  return cluster && from !== null ? mostAtOnce(groups * (1 + replicas)) : Number.POSITIVE_INFINITY
}

function holdFor(code: Obstacle['code'], why: string): Verdict {
  return { kind: 'hold', on: 'group', code, why }
}

/** Counts shards started on the goal's revision that do not follow their primary yet. */
function countInHand({ shards }: ObservedGroup, goal: Goal): number {
  const revision = revisionOf(goal)
  const primary = shards.find((shard) => isLive(shard) && shard.engine.role === 'primary')
  return shards.filter(
    (shard) =>
      shard !== primary &&
      !shard.leaving &&
      revisionOf(shard.wanted) === revision &&
      (shard.revision !== revision || primary === undefined || !isLinked(shard, primary)),
  ).length
}

function hasBegun({ shards }: ObservedGroup, goal: Goal): boolean {
  return shards.some((shard) => revisionOf(shard.wanted) === revisionOf(goal))
}

const GO_ON = 'the upgrade is supervised and goes on when a user resumes it'

/** Reason shown at the stop of a supervised upgrade by a single group. */
const whySupervised = `everything is ready; ${GO_ON}`

/** Adds to the groups that wait at that stop which groups are ready: the canary waits there alone. */
export function describeReadiness(lanes: readonly Lane[], { policy }: Pick<Goal, 'policy'>): readonly Lane[] {
  if (lanes.length === 1) return lanes
  const ready = lanes.filter(isReady).map(({ group }) => group)
  const others = lanes.length - ready.length
  const why = `${readyOf(ready, others)}${policy.canary && others > 0 ? begin(others) : ''}; ${GO_ON}`
  return lanes.map((lane) =>
    isReady(lane) ? { group: lane.group, verdict: { ...lane.verdict, why } } : lane,
  )
}

type Ready = Lane & { readonly verdict: { readonly kind: 'hold' } }

function isReady(lane: Lane): lane is Ready {
  return lane.verdict.kind === 'hold' && lane.verdict.code === 'supervised'
}

function readyOf(ready: readonly number[], others: number): string {
  if (others === 0) return `all ${ready.length} groups are ready`
  if (ready.length === 1) return `group ${ready[0]} is ready`
  return `groups ${ready.slice(0, -1).join(', ')} and ${ready.at(-1)} are ready`
}

function begin(others: number): string {
  return others === 1
    ? ', and the other group begins after it'
    : `, and the other ${others} groups begin after it`
}

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

type Takeover = Extract<Step, { kind: 'promote' | 'hand-over' | 'assign-slots' }>

function moves(step: Step): step is Takeover {
  return ['promote', 'hand-over', 'assign-slots'].includes(step.kind)
}

function wait(step: Step, whose: string): Verdict {
  const shard = step.kind === 'hand-over' ? step.to : 'shard' in step ? step.shard : 0
  const why = `${whose} the group and is no shard of the database: no role moves before it is forgotten (docs/explain/strangers.md)`
  return { kind: 'wait', shard, code: 'cluster_stranger', why }
}

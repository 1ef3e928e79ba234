import type { Build, TrialResult } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { megabytes } from '../plan/node-room.ts'
import { usualWriteStop } from '../plan/usual-write-stop.ts'
import { backlogBytes } from '../state/backlog-bytes.ts'
import { describeGoal, type Goal, type UsedModule } from '../state/goal.ts'
import { replicationPath } from '../state/replication-paths.ts'
import { mostGrowth } from '../state/successor-memory.ts'
import { dataBytes, surgeBytes } from '../state/surge-bytes.ts'
import { isLive, type ObservedDatabase, type ObservedGroup, type Step } from '../state/topology.ts'
import { isBefore62 } from '../state/way-back.ts'
import { copiesIn, type Foreseen, foresee } from './foresee.ts'
import { type NamedStep, nameSteps } from './name-steps.ts'
import { type PlannedDuration, predictDuration } from './predict-duration.ts'

/** Effects and needs of an upgrade, for people who have not requested it yet. Bytes and ms. */
export interface UpgradePlan {
  readonly build: Build
  readonly modules: readonly UsedModule[]
  /** False if the upgrade would change nothing. */
  readonly change: boolean
  readonly lanes: readonly PlannedLane[]
  readonly duration: PlannedDuration
  /** Minimum over all groups. */
  readonly redundancyMin: number
  /** Shortest of all groups. */
  readonly wayBack: PlannedWayBack
  /** If another upgrade could lead back after that has ended. */
  readonly afterwards: { readonly possible: boolean; readonly why: string }
  readonly handovers: number
  /** Effect on clients: median and maximum measured for this kind of handover. */
  readonly writeStopMs: { readonly typical: number; readonly longest: number }
  /** Additional time without service in ms; 0: it always serves. */
  readonly outageMs: number
  readonly memoryNeededBytes: number
  readonly memoryFreeBytes: number
  readonly diskNeededBytes: number
  readonly diskFreeBytes: number
  readonly backlogBytes: number
  /** The trial of the target build, started like a shard; null if there was nothing to try. */
  readonly trial: TrialResult | null
  readonly risks: readonly string[]
  readonly unproven: readonly string[]
}

/** The plan of one group. */
export interface PlannedLane {
  readonly group: number
  readonly steps: readonly NamedStep[]
  /** Minimum number of processes that hold the data at any time; 0: only the disk does. */
  readonly redundancyMin: number
  readonly wayBack: PlannedWayBack
}

/** Describes the upgrade to a goal, from the present observation. */
export function describePlan(
  seen: ObservedDatabase,
  { goal, change }: { readonly goal: Goal; readonly change: boolean },
  trial: TrialResult | null,
): UpgradePlan {
  const steps = change ? foresee(seen, goal) : []
  const named = nameSteps(seen, steps)
  const data = seen.groups.map(dataBytes)
  const surges = steps.filter(({ step }) => step.kind === 'add-shard' && step.follow !== null).length
  const [node] = seen.groups.map((group) => group.node)
  const lanes = seen.groups.map((group) => laneOf(group, goal, { steps, named }))
  const writeStopMs = count(steps, 'hand-over') === 0 ? NO_STOP : usualWriteStop(goal)
  const dataOf = (number: number) => data[seen.groups.findIndex(({ group }) => group === number)] ?? 0
  return {
    build: goal.build,
    modules: goal.modules,
    change,
    lanes,
    duration: predictDuration(steps, goal, { trial, dataOf, handoverMs: writeStopMs.typical }),
    redundancyMin: Math.min(...lanes.map(({ redundancyMin }) => redundancyMin)),
    wayBack: lanes.map(({ wayBack }) => wayBack).toSorted(byShortest)[0] ?? planWayBack(goal, []),
    afterwards: wayAfterwards(goal),
    handovers: count(steps, 'hand-over'),
    writeStopMs,
    outageMs: outageOf(steps, goal, Math.max(0, ...data)),
    memoryNeededBytes: surges === 0 ? 0 : sum(seen.groups.map(surgeBytes)),
    memoryFreeBytes: node?.memoryFreeBytes ?? 0,
    diskNeededBytes: change ? sum(data) * 2 : 0,
    diskFreeBytes: node?.diskFreeBytes ?? 0,
    backlogBytes: backlogBytes({ writtenPerSecond: 0, dataBytes: Math.max(0, ...data) }),
    trial,
    risks: change
      ? [...risksOf(seen, goal, steps), ...(trial?.ok === false ? [failed(goal, trial)] : [])]
      : [],
    unproven: change ? unprovenOf(seen, goal, steps) : [],
  }
}

function laneOf(
  seen: ObservedGroup,
  goal: Goal,
  all: { readonly steps: readonly Foreseen[]; readonly named: readonly NamedStep[] },
): PlannedLane {
  const ofGroup = ({ group }: { readonly group: number }) => group === seen.group
  const steps = all.steps.filter(ofGroup)
  return {
    group: seen.group,
    steps: all.named.filter(ofGroup),
    redundancyMin: Math.min(copiesIn(seen), ...steps.map(({ copies }) => copies)),
    wayBack: planWayBack(goal, steps),
  }
}

/** With the same policy, only `never` is shorter than the others. */
function byShortest(a: PlannedWayBack, b: PlannedWayBack): number {
  return Number(b.until === 'never') - Number(a.until === 'never')
}

const NO_STOP = { typical: 0, longest: 0 }

function outageOf(steps: readonly Foreseen[], goal: Goal, largest: number): number {
  if (count(steps, 'restart-primary') > 0) return Math.round(1_000 + largest / BYTES_A_MS)
  return goal.discard && steps.length > 0 ? 1_000 : 0
}

/** Saving and loading again: 7 to 12 s per GiB (docs/explain/measurements/engines.md §4). */
const BYTES_A_MS = 100_000

function risksOf(seen: ObservedDatabase, goal: Goal, steps: readonly Foreseen[]): readonly string[] {
  const path = goal.from === null ? null : replicationPath(goal.from.build, goal.build)
  const silent = seen.groups.flatMap(silentOf)
  return [
    ...silent,
    ...(goal.discard ? ['the data is discarded, as requested: the database starts empty'] : []),
    ...(count(steps, 'restart-primary') > 0
      ? [
          'there is no memory for a surge shard: the database restarts in place, does not serve meanwhile, and has no way back',
        ]
      : []),
    ...(path?.relaxed
      ? [
          `${goal.build.flavour} reads the data of another flavour: if the data has types that only the other one has, the upgrade ends, and nothing is lost`,
        ]
      : []),
    ...cannotPause(goal, steps),
    ...seen.groups.flatMap((group) => [...unlinked(group), ...crowded(group, goal, steps)]),
    ...(steps.length === 0 && silent.length === 0
      ? [`no step towards ${describeGoal(goal)} can be planned while the database is as it is now`]
      : []),
  ]
}

/** Measured with Redis 6.0.16: docs/operate/upgrades.md, "From redis 6". */
function cannotPause({ from, build }: Goal, steps: readonly Foreseen[]): readonly string[] {
  if (from === null || count(steps, 'hand-over') === 0 || !isBefore62(from.build)) return []
  return [
    `${from.build.flavour} ${from.build.version} cannot make writes wait: while the role moves, clients that connect to the shards themselves get NOREPLICAS for some milliseconds. Clients of the endpoint wait`,
    ...(isBefore62(build)
      ? []
      : [
          `there is no way back to ${from.build.flavour} ${from.build.version} once the role has moved: it does not report which commands of a newer primary it could not execute`,
        ]),
  ]
}

/** Names silent shards, which any upgrade would wait for. */
function silentOf({ group, shards, recordedPrimary }: ObservedGroup): readonly string[] {
  const silent = shards.filter(({ engine, leaving }) => engine === null && !leaving)
  return silent.map((shard) => {
    const role = shard.id === recordedPrimary ? 'the current primary' : 'a replica'
    const what =
      shard.process === 'running' ? 'does not answer' : `does not answer, its process is ${shard.process}`
    return `shard ${shard.id}, ${role} of group ${group}, ${what}: no role moves before it does, or before it is replaced`
  })
}

function unlinked({ group, shards }: ObservedGroup): readonly string[] {
  const broken = shards.filter(
    (shard) => isLive(shard) && shard.engine.role === 'replica' && shard.engine.link === 'down',
  )
  return broken.map(
    ({ id }) => `replica ${id} of group ${group} is not linked: nothing starts before it is linked`,
  )
}

/** Warns about memory before a shard holds the data on the target. */
function crowded(
  seen: ObservedGroup,
  { from, build, discard }: Goal,
  steps: readonly Foreseen[],
): readonly string[] {
  const { shareBytes } = seen.limits
  const most = dataBytes(seen) * (from === null ? 1 : mostGrowth(from.build, build))
  if (discard || shareBytes === 0 || most <= shareBytes) return []
  const end =
    count(steps, 'restart-primary') > 0
      ? 'it would then refuse writes or evict keys, which cannot be seen before'
      : 'the upgrade ends before anything old is touched if it does not fit'
  return [
    `on ${build.flavour} ${build.version} the data of group ${seen.group} may take ${megabytes(most)} MB, and ${megabytes(shareBytes)} MB are allowed (memory_size): ${end}`,
  ]
}

function failed({ build }: Goal, { why }: TrialResult): string {
  return `${build.flavour} ${build.version} does not start as this database needs it: ${why}`
}

/** Lists what only the upgrade can find out; each of these ends it before anything old is touched. */
function unprovenOf(seen: ObservedDatabase, goal: Goal, steps: readonly Foreseen[]): readonly string[] {
  const path = goal.from === null ? null : replicationPath(goal.from.build, goal.build)
  if (goal.discard) return []
  return [
    ...(path !== null && !path.measured
      ? [
          `it has not been measured whether ${goal.build.flavour} ${goal.build.version} can replicate from the present build`,
        ]
      : []),
    ...(count(steps, 'add-shard') > 0
      ? [
          'whether the target can read this very data: its surge shard shows it, before anything old is touched',
        ]
      : []),
    ...(count(steps, 'hand-over') > 0 && seen.groups.some(({ limits }) => limits.shareBytes > 0)
      ? [
          'whether the data fits memory_size on the target: the shard that is to take over shows it, before anything old is touched',
        ]
      : []),
    'whether every user and setting given at run time can be carried over to the target: checked before the handover',
  ]
}

function count(steps: readonly Foreseen[], kind: Step['kind']): number {
  return steps.filter(({ step }) => step.kind === kind).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** Returns why the node lacks memory for surge shards of all groups, or undefined. */
export function lackOfMemoryFor(seen: ObservedDatabase): string | undefined {
  if (spareBytes(seen) >= 0) return undefined
  const needed = sum(seen.groups.map(surgeBytes))
  const free = Math.min(...seen.groups.map(({ node }) => node.memoryFreeBytes))
  return `surge shards need ${megabytes(needed)} MB of memory and the node has ${megabytes(free)} MB free`
}

/** Returns the node's free memory after surge shards for all groups; negative if they lack memory. */
export function spareBytes(seen: ObservedDatabase): number {
  const free = Math.min(...seen.groups.map(({ node }) => node.memoryFreeBytes))
  return free - sum(seen.groups.map(surgeBytes))
}

/** For how long one group could go back without loss after its handover. */
interface PlannedWayBack {
  /**
   * `never`: not after its handover; `handover`: until the last group's; `time`: `seconds` longer;
   * `finalized`: until a user finalizes.
   */
  readonly until: 'never' | 'handover' | 'time' | 'finalized'
  readonly seconds: number | null
  readonly why: string
}

/** Plans the way back of one group with these steps. */
function planWayBack(goal: Goal, steps: readonly Foreseen[]): PlannedWayBack {
  const never = (why: string) => ({ until: 'never' as const, seconds: null, why })
  if (goal.discard) return never('the data is discarded, as requested')
  if (steps.some(({ step }) => step.kind === 'restart-primary'))
    return never('its only shard restarts in place: there is no old primary that could take over again')
  const { from, build, policy } = goal
  if (from !== null && isBefore62(from.build) && !isBefore62(build))
    return never(
      `${from.build.flavour} ${from.build.version} does not report which commands of a newer primary it could not execute`,
    )
  const kept = 'the old primary follows the new one as a standby, and has every write'
  if (policy.rollbackWindow === 'until-finalized') return { until: 'finalized', seconds: null, why: kept }
  if (policy.rollbackWindow > 0) return { until: 'time', seconds: policy.rollbackWindow, why: kept }
  return { until: 'handover', seconds: null, why: kept }
}

/** Returns if, and why, another upgrade could lead to the old build after the way back has ended. */
function wayAfterwards({ from, build }: Goal): { readonly possible: boolean; readonly why: string } {
  if (from === null) return { possible: false, why: 'there is no build to go back to' }
  const before = from.build
  const old = `${before.flavour} ${before.version}`
  if (before.flavour === build.flavour && compareVersions(before.version, build.version) < 0)
    return { possible: false, why: `${old} is older than ${build.version}, and no target of an upgrade then` }
  const { obstacle } = replicationPath(build, before)
  if (obstacle !== undefined) return { possible: false, why: obstacle }
  return {
    possible: true,
    why: `another upgrade can lead to ${old}: its surge shard shows whether it reads the data`,
  }
}

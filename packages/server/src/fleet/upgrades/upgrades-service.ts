import { createHash } from 'node:crypto'
import { type Build, Refusal, type TrialResult } from '@fairlead/api'
import {
  describePlan,
  lackOfMemoryFor,
  spareBytes,
  type UpgradePlan,
} from '../../core/dry-run/describe-plan.ts'
import type { Actor } from '../../core/identity/access.ts'
import { crowdedUpgrade } from '../../core/requests/crowded-cluster.ts'
import { describeBusy } from '../../core/requests/describe-busy.ts'
import { type PlanInputs, planBasis } from '../../core/requests/plan-basis.ts'
import { resolveUpgrade, type UpgradeRequest } from '../../core/requests/resolve-upgrade.ts'
import { type UpgradeTarget, upgradeTargets } from '../../core/requests/upgrade-targets.ts'
import type { Database } from '../../core/state/database.ts'
import { type Goal, type Runs, runsOf } from '../../core/state/goal.ts'
import type { Refused } from '../../core/state/refused.ts'
import { asServed } from '../../core/state/serving.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import type { JudgedBuild, Nodes } from '../../nodes/nodes-service.ts'
import type { Actions } from '../actions/actions-service.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'
import { planOutdated } from '../databases/read-plan-inputs.ts'
import type { Modules } from '../modules/modules-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'

/** Starts a process with these runs, and removes it again. */
type TryRuns = (database: Database, runs: Runs) => Promise<TrialResult>

/** A target with the known holes of its build. */
export interface JudgedTarget extends UpgradeTarget {
  readonly holes: JudgedBuild['holes']
}

/** A started upgrade of modules. */
export interface UpgradedModules {
  readonly view: DatabaseView
  readonly names: readonly string[]
  /** Undefined only if the action has been removed since. */
  readonly actionUid: string | undefined
}

interface UpgradesDeps extends UpgradeInputs {
  readonly databases: Databases
  readonly actions: Pick<Actions, 'get' | 'follow'>
  readonly tryRuns: TryRuns
}

export type Upgrades = ReturnType<typeof createUpgrades>

/**
 * Begins upgrades, and predicts their effect. `tryRuns` tests whether a shard starts with an upgrade's goal.
 */
export function createUpgrades(deps: UpgradesDeps) {
  const { databases, actions, tryRuns } = deps

  return {
    /**
     * Resolves the request into a goal and begins the upgrade. Without a change, the action is the running
     * one, or a completed one with the reason. Throws Refusal with every obstacle, and plan_outdated if
     * `bases` are given without the current basis.
     */
    async start(
      uid: number,
      request: UpgradeRequest,
      by: Actor,
      bases?: readonly string[],
    ): Promise<DatabaseView> {
      const view = await databases.get(uid)
      const busy = busyWith(view)
      if (busy !== undefined) throw toRefusal(busy)
      const { resolved, warnings, expected } = await resolveNow(deps, view.database, request, bases)
      const { goal } = resolved
      const asked = { goal, expected, request: request.written ?? null }
      if (!resolved.change)
        return databases.noteNothing(
          uid,
          { ...asked, reason: [nothingToDo(goal), ...warnings].join('; ') },
          by,
        )
      if (goal.discard) await proveTarget(view.database, goal, tryRuns)
      return databases.begin(uid, { kind: 'upgrade', warnings, ...asked }, by)
    },

    /** Like `start` for named modules; returns their names in order. */
    async startModules(uid: number, request: UpgradeRequest, by: Actor): Promise<UpgradedModules> {
      const before = (await databases.get(uid)).database.modules
      const view = await this.start(uid, request, by)
      const names = request.modules.flatMap(({ currentModule, moduleName }) =>
        before
          .filter((used) =>
            currentModule === undefined ? used.name === moduleName : used.uid === currentModule,
          )
          .map((used) => used.name),
      )
      return { view, names, actionUid: view.action?.uid }
    },

    /**
     * Resolves at the running action's goal. Throws Refusal upgrade_failed if it failed, and unavailable when
     * `signal` aborts; the upgrade continues anyway.
     */
    async untilDone(view: DatabaseView, signal: AbortSignal): Promise<DatabaseView> {
      const { action, database } = view
      if (action === undefined) return view
      for await (const _ of actions.follow(action.uid, 0, signal)) {
        // Each event is only a sign of progress.
      }
      const ended = await actions.get(action.uid)
      if (ended.of !== 'database' || ended.action.status === 'done') return databases.get(database.uid)
      if (ended.action.status === 'failed')
        throw new Refusal('upgrade_failed', `${ended.action.error ?? ''} (action ${action.uid})`)
      throw new Refusal('unavailable', `Fairlead is stopping; the upgrade goes on as action ${action.uid}`)
    },

    /**
     * Predicts the effect of `start`. Starts the target build in a separate process, and removes it. Refuses
     * like `start`, except for another running change.
     */
    async foresee(uid: number, request: UpgradeRequest, bases?: readonly string[]): Promise<ForeseenUpgrade> {
      const view = await databases.get(uid)
      const now = await resolveNow(deps, view.database, request, bases)
      const { seen, resolved, database, basis } = now
      const trial = resolved.change ? await tryRuns(database, resolved.goal) : null
      return {
        view: asUpgraded({ ...view, database }, runsOf(resolved.goal)),
        plan: withRisks(describePlan(seen, resolved, trial), [...now.risks, ...now.warnings]),
        basis,
        suite: now.suite,
        busy: resolved.change ? busyWith(view) : undefined,
      }
    },

    /** All builds as targets, with the refusals of `start`. */
    targets: async (uid: number) => targetsOf(deps, await databases.get(uid)),
  }
}

/** The database as it is after its upgrade. */
function asUpgraded(view: DatabaseView, runs: Runs): DatabaseView {
  const shards = view.shards.map((shard) => ({ ...shard, runs }))
  return { ...view, shards, database: { ...view.database, ...runs } }
}

function nothingToDo({ build, modules }: Goal): string {
  const names = modules.map(({ name, semanticVersion }) => ` with ${name} ${semanticVersion}`)
  return `nothing was to be changed: the database runs ${build.flavour} ${build.version}${names.join(' and')} already; force_restart restarts it anyway`
}

/** Every build as a target of this database. */
async function targetsOf(deps: UpgradeInputs, view: DatabaseView) {
  const { standing, subject, catalogue } = await examine(deps, view.database)
  const targets = upgradeTargets(subject, catalogue, busyWith(view)).map((target) => ({
    ...target,
    holes: judged(target.build, catalogue.builds)?.holes ?? [],
  }))
  return { database: standing.database, targets }
}

/** Returns why no upgrade can begin now, or undefined. */
function busyWith({ database, action }: DatabaseView): Refused | undefined {
  const isWhole = database.groups.every(({ primaryShard }) => primaryShard !== null)
  if (action === undefined && isWhole) return undefined
  return { refused: 'db_busy', message: describeBusy(database.name, action) }
}

/** If data is discarded there is no way back, so this proves the target. Otherwise the surge shard does. */
async function proveTarget(database: Database, goal: Goal, tryRuns: TryRuns): Promise<void> {
  const trial = await tryRuns(database, goal)
  if (trial.ok) return
  throw new Refusal(
    'target_does_not_start',
    `${goal.build.flavour} ${goal.build.version} does not start as this database needs it, so nothing was discarded: ${trial.why}`,
  )
}

function withRisks(plan: UpgradePlan, risks: readonly string[]): UpgradePlan {
  return { ...plan, risks: [...plan.risks, ...risks] }
}

/** The predicted effect of an upgrade. */
export interface ForeseenUpgrade {
  readonly view: DatabaseView
  readonly plan: UpgradePlan
  readonly basis: string
  /** Suite of Debian of the target build; undefined: not known. */
  readonly suite: string | undefined
  /** The action that runs now: until its end `start` refuses. */
  readonly busy: Refused | undefined
}

/** Sources of the facts about a database and the cluster. */
interface UpgradeInputs {
  readonly databases: Pick<Databases, 'standing'>
  readonly nodes: Pick<Nodes, 'builds' | 'describe'>
  readonly modules: Pick<Modules, 'list'>
  /** Observes a database. */
  readonly look: (database: Database) => Promise<ObservedDatabase>
}

/** Reads the facts that decide about an upgrade. Throws Refusal db_not_exist and unavailable. */
async function examine({ databases, nodes, modules, look }: UpgradeInputs, known: Database) {
  const portsNeeded = known.groups.length * (known.shardTls ? 2 : 1)
  const { standing, again } = await databases.standing(known.uid, portsNeeded)
  const { lackOfPorts } = standing
  const database = asServed(standing.database, standing.shards)
  const seen = await look(database)
  const catalogue = { builds: await nodes.builds(), modules: await modules.list() }
  const subject = {
    ...database,
    groups: database.groups.length,
    primaries: database.groups.flatMap(({ primaryShard }) => primaryShard ?? []),
    lackOfMemory: lackOfMemoryFor(seen),
    lackOfPorts,
  }
  return { standing, again, seen, subject, catalogue }
}

/**
 * Resolves a request into a goal and the basis of its plan. Throws Refusal, and plan_outdated if `bases` are
 * given without this basis.
 */
async function resolveNow(
  deps: UpgradeInputs,
  known: Database,
  request: UpgradeRequest,
  bases: readonly string[] | undefined,
) {
  const { standing, again, seen, subject, catalogue } = await examine(deps, known)
  const resolved = resolveUpgrade(request, subject, catalogue)
  if ('refused' in resolved) throw toRefusal(resolved)
  const { goal, change, passedOver } = resolved
  const source = { goal, ...catalogue, spareBytes: spareBytes(seen), reservedBytes: standing.reservedBytes }
  const basisOf = (now: PlanInputs) => digest(planBasis(now, source))
  const isSame = (now: PlanInputs) => bases === undefined || bases.includes(basisOf(now))
  if (!isSame(standing)) throw planOutdated()
  const crowd =
    change && goal.cluster ? crowdedUpgrade(goal, (await deps.nodes.describe())?.cores) : undefined
  return {
    seen,
    resolved,
    database: standing.database,
    basis: basisOf(standing),
    /** Checked again on acceptance. */
    expected: bases === undefined ? undefined : { again, isSame },
    suite: judged(goal.build, catalogue.builds)?.suite,
    risks: holesOf(goal.build, catalogue.builds),
    warnings: [
      ...passedOver.map((why) => `a newer version was passed over: ${why}`),
      ...(crowd === undefined ? [] : [crowd]),
    ],
  }
}

/** Long enough to be unique, short enough to type. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Known security holes of the goal's build. */
function holesOf(build: Build, builds: readonly JudgedBuild[]): readonly string[] {
  const { flavour, version } = build
  return (judged(build, builds)?.holes ?? []).map(
    ({ id, what }) => `${flavour} ${version} has a known hole, ${id}: ${what}`,
  )
}

/** The build of the catalogue, with its known holes. */
function judged({ flavour, version }: Build, builds: readonly JudgedBuild[]): JudgedBuild | undefined {
  return builds.find((build) => build.flavour === flavour && build.version === version)
}

import { createHash } from 'node:crypto'
import type { Build } from '@fairlead/api'
import { lackOfMemoryFor, spareBytes } from '../../core/dry-run/describe-plan.ts'
import { crowdedUpgrade } from '../../core/requests/crowded-cluster.ts'
import { type PlanInputs, planBasis } from '../../core/requests/plan-basis.ts'
import { resolveUpgrade, type UpgradeRequest } from '../../core/requests/resolve-upgrade.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import type { JudgedBuild, Nodes } from '../../nodes/nodes-service.ts'
import type { Databases } from '../databases/databases-service.ts'
import { planOutdated } from '../databases/read-plan-inputs.ts'
import type { Modules } from '../modules/modules-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'

/** Sources of the facts about a database and the cluster. */
export interface UpgradeInputs {
  readonly databases: Pick<Databases, 'standing'>
  readonly nodes: Pick<Nodes, 'builds' | 'describe'>
  readonly modules: Pick<Modules, 'list'>
  /** Observes a database. */
  readonly look: (database: Database) => Promise<ObservedDatabase>
}

/** Reads the facts that decide about an upgrade. Throws Refusal db_not_exist and unavailable. */
export async function examine({ databases, nodes, modules, look }: UpgradeInputs, known: Database) {
  const portsNeeded = known.groups.length * (known.shardTls ? 2 : 1)
  const { standing, again } = await databases.standing(known.uid, portsNeeded)
  const { database, lackOfPorts } = standing
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
export async function resolveNow(
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
export function judged({ flavour, version }: Build, builds: readonly JudgedBuild[]): JudgedBuild | undefined {
  return builds.find((build) => build.flavour === flavour && build.version === version)
}

import { Refusal, type TrialResult } from '@fairlead/api'
import type { Actor } from '../core/access.ts'
import type { Database } from '../core/database.ts'
import { describePlan, lackOfMemoryFor, type UpgradePlan } from '../core/describe-plan.ts'
import type { Goal } from '../core/goal.ts'
import { settleUpgrade, type UpgradeRequest } from '../core/settle-upgrade.ts'
import type { SeenDatabase } from '../core/topology.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'
import type { Nodes } from '../nodes/nodes-service.ts'

export interface Upgrades {
  /**
   * Settles the request into a goal and begins the upgrade. Answers with the database and the action that leads it
   * there; without one when nothing would change. Throws Refusal, with every obstacle in its message.
   */
  start(uid: number, request: UpgradeRequest, by: Actor): Promise<DatabaseView>
  /**
   * Says what `start` would do, and the database as it would be. The target build is really started, beside everything,
   * and removed again. Refuses what `start` refuses, but for another change that runs.
   */
  foresee(
    uid: number,
    request: UpgradeRequest,
  ): Promise<{ readonly view: DatabaseView; readonly plan: UpgradePlan }>
}

export function createUpgrades(deps: {
  readonly databases: Databases
  readonly nodes: Nodes
  /** What is seen of a database right now. */
  readonly look: (database: Database) => Promise<SeenDatabase>
  /** Starts a build as a shard of the database would be, and removes it again. */
  readonly tryBuild: (database: Database, build: Goal['build']) => Promise<TrialResult>
}): Upgrades {
  const { databases, nodes, look, tryBuild } = deps
  const settle = async ({ database }: DatabaseView, request: UpgradeRequest) => {
    const primaries = database.groups.flatMap(({ primaryShard }) => primaryShard ?? [])
    const seen = await look(database)
    const settled = settleUpgrade(
      request,
      { ...database, groups: database.groups.length, primaries, lackOfMemory: lackOfMemoryFor(seen) },
      await nodes.builds(),
    )
    if ('refused' in settled) throw new Refusal(settled.refused, settled.message)
    return { seen, settled }
  }

  return {
    async start(uid, request, by) {
      const view = await databases.get(uid)
      refuseBusy(view)
      const { settled } = await settle(view, request)
      if (!settled.change) return view
      if (settled.goal.discard) await proveTarget(view.database, settled.goal, tryBuild)
      return databases.begin(uid, { kind: 'upgrade', goal: settled.goal }, by)
    },

    async foresee(uid, request) {
      const view = await databases.get(uid)
      const { seen, settled } = await settle(view, request)
      const trial = settled.change ? await tryBuild(view.database, settled.goal.build) : null
      const { build, restartNonce } = settled.goal
      return {
        view: { ...view, database: { ...view.database, build, restartNonce } },
        plan: describePlan(seen, settled, trial),
      }
    },
  }
}

function refuseBusy({ database, action }: DatabaseView): void {
  const isWhole = database.groups.every(({ primaryShard }) => primaryShard !== null)
  if (action === undefined && isWhole) return
  throw new Refusal(
    'db_busy',
    `another change is in hand on database ${database.uid}${action ? `: action ${action.uid} (${action.kind}) runs` : ''}; try again when it has ended`,
  )
}

/** Where data is discarded there is no way back, so the target is proven before. Everywhere else the surge shard is. */
async function proveTarget(
  database: Database,
  { build }: Goal,
  tryBuild: (database: Database, build: Goal['build']) => Promise<TrialResult>,
): Promise<void> {
  const trial = await tryBuild(database, build)
  if (trial.ok) return
  throw new Refusal(
    'target_does_not_start',
    `${build.flavour} ${build.version} does not start as this database needs it, so nothing was discarded: ${trial.why}`,
  )
}

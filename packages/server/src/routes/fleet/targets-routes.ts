import { listUpgradeTargets, type Output } from '@fairlead/api'
import { runsForeignCode } from '@fairlead/engine'
import type { UsedModule } from '../../core/state/goal.ts'
import { toObstacle } from '../../fleet/refusals/to-refusal.ts'
import type { JudgedTarget, Upgrades } from '../../fleet/upgrades/upgrades-service.ts'
import type { Mount } from '../../http/mount.ts'
import { obstacleToWire } from '../../http/obstacle-to-wire.ts'

/** Serves the upgrade targets of a database. */
export function targetsRoutes(mount: Mount, upgrades: Pick<Upgrades, 'targets'>): void {
  mount(listUpgradeTargets, async ({ params }) => {
    const { database, targets } = await upgrades.targets(params.uid)
    return targets.map((target) => toWire(target, database.modules))
  })
}

function toWire(
  { build, isCurrent, isNewest, isRecommended, obstacles, withNewest, holes }: JudgedTarget,
  modules: readonly UsedModule[],
): Output<typeof listUpgradeTargets>[number] {
  const newest = withNewest?.modules ?? []
  return {
    engine: build.flavour,
    engine_version: build.version,
    current: isCurrent,
    newest: isNewest,
    recommended: isRecommended,
    insecure: holes.some(runsForeignCode),
    known_holes: [...holes],
    ...judgementOf(obstacles),
    modules: modules.map(({ name, semanticVersion }) => ({
      module_name: name,
      semantic_version: semanticVersion,
      newest_version: newest.find((module) => module.name === name)?.semanticVersion ?? null,
    })),
    with_newest_modules: withNewest === undefined ? null : judgementOf(withNewest.obstacles),
  }
}

function judgementOf(obstacles: JudgedTarget['obstacles']) {
  return {
    possible: obstacles.length === 0,
    obstacles: obstacles.map((refused) => obstacleToWire(toObstacle(refused))),
  }
}

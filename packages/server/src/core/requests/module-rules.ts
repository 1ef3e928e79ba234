import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import type { Module } from '../modules/module.ts'
import type { Goal } from '../state/goal.ts'
import type { Refused } from '../state/refused.ts'

/** Properties of a database that decide which modules it can have. */
export interface ModuleTraits {
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly cluster: boolean
  readonly evictionPolicy: string
}

/**
 * Edition of module packages, and of their API, that this Fairlead supports: the "cluster software" version
 * of packages. Fairlead's version means nothing to them: packers write 5.2 and above by default.
 */
export const ENGINE_PACK_VERSION = '7.4.0'

/** Returns every reason for which a module cannot run on this engine or under this Fairlead. */
export function obstaclesOfVersions(module: Module, build: Build): readonly Refused[] {
  const { minEngineVersion, minEnginePackVersion } = module
  const what = `${module.name} ${module.semanticVersion}`
  const obstacles: Refused[] = []
  if (minEngineVersion !== null && compareVersions(minEngineVersion, build.version) > 0)
    obstacles.push({
      refused: 'engine_incompatible_version',
      message: `${what} needs engine version ${minEngineVersion} or newer (min_engine_version), and the database would run ${build.flavour} ${build.version}`,
    })
  if (minEnginePackVersion !== null && compareVersions(minEnginePackVersion, ENGINE_PACK_VERSION) > 0)
    obstacles.push({
      refused: 'engine_pack_incompatible_version',
      message: `${what} needs cluster software ${minEnginePackVersion} or newer (min_engine_pack_version), and this one stands for ${ENGINE_PACK_VERSION}`,
    })
  return obstacles
}

/** Returns the capabilities that the database uses and the module does not declare. */
export function obstacleOfCapabilities(module: Module, traits: ModuleTraits): Refused | undefined {
  const missing = neededBy(traits).filter(({ capability }) => !module.capabilities.includes(capability))
  if (missing.length === 0) return undefined
  const words = missing.map(({ capability, because }) => `${capability} (the database has ${because})`)
  return {
    refused: 'unsupported_module_capabilities',
    message: `${module.name} ${module.semanticVersion} lacks ${words.join(', ')}`,
  }
}

/** Returns the module capabilities needed by the database's features. */
function neededBy({ replicas, persistence, cluster, evictionPolicy }: ModuleTraits) {
  const needs: readonly (readonly [boolean, string, string])[] = [
    [evictionPolicy !== 'noeviction', 'eviction_expiry', `eviction_policy ${evictionPolicy}`],
    [replicas > 0, 'failover_migrate', 'replication'],
    [persistence === 'aof', 'persistence_aof', 'data_persistence aof'],
    [persistence === 'snapshot', 'persistence_rdb', 'data_persistence snapshot'],
    [cluster, 'clustering', 'sharding'],
  ]
  return needs.filter(([isUsed]) => isUsed).map(([, capability, because]) => ({ capability, because }))
}

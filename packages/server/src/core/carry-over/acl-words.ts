import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'

/** Optional vocabulary of users' rules. */
export interface AclWords {
  readonly channels: boolean
  readonly sanitizing: boolean
  /** "%R~key" and "%W~key". */
  readonly keyPermissions: boolean
  readonly selectors: boolean
  /** "db=0,1". */
  readonly databases: boolean
}

/** Returns the vocabulary of ACL rules of this engine build. */
export function aclWords(build: Build): AclWords {
  const since62 = !isBeforeRedis(build, '6.2')
  const since70 = !isBeforeRedis(build, '7.0')
  const isValkey9 = build.flavour === 'valkey' && compareVersions(build.version, '9.0') >= 0
  return {
    channels: since62,
    // Valkey 9.1.2 accepts the word and ignores it.
    sanitizing: since62 && !isValkey9,
    keyPermissions: since70,
    selectors: since70,
    databases: isValkey9,
  }
}

/** True for Redis before this version. Valkey and Redict began after Redis 7.0. */
export function isBeforeRedis({ flavour, version }: Build, redis: string): boolean {
  return flavour === 'redis' && compareVersions(version, redis) < 0
}

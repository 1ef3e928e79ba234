import type { Build } from '@fairlead/api'
import { isBeforeRedis } from './acl-words.ts'

/**
 * Returns why shards of this build cannot use TLS among each other, or undefined. Redis before 7.0 has no
 * `cluster-port`: its bus would be at a fixed distance above the TLS port, and it would announce the TLS port
 * to clients.
 */
export function obstacleToBusTls(build: Build): string | undefined {
  if (!isBeforeRedis(build, '7.0')) return undefined
  return `engine_version: shards of ${build.flavour} ${build.version} cannot speak TLS to each other; ask for redis 7.0 or later, or start the server with FAIRLEAD_SHARD_TLS=off`
}

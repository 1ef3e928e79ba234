import type { Build } from '@fairlead/api'
import { isBeforeRedis } from './acl-words.ts'

/**
 * Why shards of this build cannot speak TLS to each other in Fairlead's way, as a sentence; undefined when they can. Redis before 7.0 has no `cluster-port`, so its bus
 * would be at a fixed distance above the TLS port, and it would name the TLS port to clients.
 */
export function obstacleToBusTls(build: Build): string | undefined {
  if (!isBeforeRedis(build, '7.0')) return undefined
  return `engine_version: shards of ${build.flavour} ${build.version} cannot speak TLS to each other; ask for redis 7.0 or later, or start the server with FAIRLEAD_SHARD_TLS=off`
}

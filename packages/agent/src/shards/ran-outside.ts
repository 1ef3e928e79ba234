import { isDeepStrictEqual } from 'node:util'
import type { ShardSpec } from '@fairlead/api'
import type { ProcessRecord } from '../folder/shard-folder.ts'

/**
 * True if this shard ran before without a wall, with the build and modules that are wanted now. An older
 * shard may restart as it ran, but nothing that the server requests today may run as root. Only the agent
 * writes such records.
 */
export function ranOutside(
  last: Pick<ProcessRecord, 'spec' | 'answeredAt' | 'within' | 'ranOutside'> | null,
  { build, modules }: Pick<ShardSpec, 'build' | 'modules'>,
): boolean {
  if (last === null || last.within === true) return false
  const ran = last.answeredAt !== null || last.ranOutside === true
  return ran && isDeepStrictEqual(last.spec.build, build) && isDeepStrictEqual(last.spec.modules, modules)
}

import { isDeepStrictEqual } from 'node:util'
import type { ShardSpec } from '@fairlead/api'
import type { ProcessRecord } from '../folder/shard-folder.ts'

/**
 * Did this shard, before the next start, run without a wall with the very build and the modules that are wanted now? An older shard may start again as it ran;
 * but nothing that the server asks for today may run as root. Only the agent writes such records.
 */
export function ranOutside(
  last: Pick<ProcessRecord, 'spec' | 'answeredAt' | 'within' | 'ranOutside'> | null,
  { build, modules }: Pick<ShardSpec, 'build' | 'modules'>,
): boolean {
  if (last === null || last.within === true) return false
  const ran = last.answeredAt !== null || last.ranOutside === true
  return ran && isDeepStrictEqual(last.spec.build, build) && isDeepStrictEqual(last.spec.modules, modules)
}

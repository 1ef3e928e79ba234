import { isDeepStrictEqual } from 'node:util'
import type { ShardReport, ShardSpec } from '@fairlead/api'
import type { WantedRecord } from '../folder/shard-folder.ts'

/**
 * Merges a put into the wanted state; returns the same value if nothing changes. The order, which requests a
 * new process, rises if the revision differs, or if there is no process and nothing else would start one.
 */
export function nextWanted(wanted: WantedRecord, spec: ShardSpec, state: ShardReport['state']): WantedRecord {
  const asleep = state === 'failed' || state === 'exited'
  if (isDeepStrictEqual(spec, wanted.spec)) {
    // A shard in its back-off starts automatically: the same spec again does not shorten it.
    const stuck = state === 'failed' || (state === 'exited' && spec.onCrash === 'wait')
    return stuck ? { ...wanted, order: wanted.order + 1 } : wanted
  }
  const anew = asleep || spec.revision !== wanted.spec.revision
  return { ...wanted, spec, order: anew ? wanted.order + 1 : wanted.order }
}

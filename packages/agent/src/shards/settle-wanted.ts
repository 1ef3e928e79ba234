import { isDeepStrictEqual } from 'node:util'
import type { ShardReport, WantedShard } from '@fairlead/api'
import type { WantedRecord } from '../folder/shard-folder.ts'

/**
 * What a put makes of what was wanted: the same value when it changes nothing. A new order, hence a new process, when
 * the revision differs, or when there is no process and nothing else would start one.
 */
export function settleWanted(
  wanted: WantedRecord,
  wish: WantedShard,
  state: ShardReport['state'],
): WantedRecord {
  const asleep = state === 'failed' || state === 'exited'
  if (isDeepStrictEqual(wish, wanted.wish)) {
    // A shard in its back-off starts by itself: the same wish again does not hurry it.
    const stuck = state === 'failed' || (state === 'exited' && wish.onCrash === 'wait')
    return stuck ? { ...wanted, order: wanted.order + 1 } : wanted
  }
  const anew = asleep || wish.revision !== wanted.wish.revision
  return { ...wanted, wish, order: anew ? wanted.order + 1 : wanted.order }
}

import type { Records } from '../records/stored-records.ts'
import type { ActionsOnRecord } from '../turn/ports.ts'

/** Waiting actions share one read of the queue for this time. */
const SHARED_FOR_MS = 250

/**
 * Shares `listActive` of the store among waiting actions: each asks about every 0.5 s, and separate reads
 * would have a quadratic cost. An answer is used only if it contains the asking action; it then contains all
 * earlier ones, so that none overtakes another.
 */
export function shareQueue(
  listActive: ActionsOnRecord['listActive'],
  clock = (): number => performance.now(),
): ActionsOnRecord['listActive'] {
  let last: { readonly at: number; readonly uids: ReadonlySet<string>; readonly list: Listed } | undefined
  return async (including) => {
    if (including !== undefined && last?.uids.has(including) && clock() - last.at < SHARED_FOR_MS)
      return last.list
    const at = clock()
    const list = await listActive()
    last = { at, list, uids: new Set(list.map(({ uid }) => uid)) }
    return list
  }
}

type Listed = Awaited<ReturnType<ActionsOnRecord['listActive']>>

/** Returns the records with that shared queue. */
export function withQueue(records: Records, listActive: ActionsOnRecord['listActive']): Records {
  return { ...records, actions: { ...records.actions, listActive } }
}

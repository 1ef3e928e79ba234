import type { Records } from '../records/stored-records.ts'
import type { ActionsOnRecord } from '../turn/ports.ts'

/** The queue of upgrades is read once in this time for all that wait in it. */
const SHARED_FOR_MS = 250

/**
 * `listActive` of the store, shared by all actions that wait: each asks about every half a second, and to read all of them each time would cost the square of their
 * number. An answer is used only if it contains the action that asks; so it contains all earlier actions too, and no action overtakes another.
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

/** Records of one database, with that queue. */
export function withQueue(records: Records, listActive: ActionsOnRecord['listActive']): Records {
  return { ...records, actions: { ...records.actions, listActive } }
}

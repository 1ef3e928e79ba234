import type { Records } from '../records/stored-records.ts'
import type { ActionsOnRecord } from '../turn/ports.ts'

/** The queue of upgrades is read once in this time for all that wait in it. */
const SHARED_FOR_MS = 250

/**
 * `listActive` of the store, for all actions that wait: each asks every half a second or so, and reading all of them each time would cost the square of their
 * number. What it answers names the action that asks; so it names all that were there before that one, and none overtakes another.
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

import { Refusal } from '@fairlead/api'
import type { Db, Store } from '../../store/open-store.ts'
import { ActiveActionExists, actionsStore } from '../stores/actions-store.ts'

/** Runs `work` in a transaction. Throws Refusal db_busy with the running action if there is one. */
export async function unlessBusy<T>(uid: number, store: Store, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    return await store.transaction(work)
  } catch (cause) {
    if (!(cause instanceof ActiveActionExists)) throw cause
    throw new Refusal('db_busy', await describeBusy(uid, store))
  }
}

async function describeBusy(uid: number, { db }: Store): Promise<string> {
  const running = await actionsStore(db).active(uid)
  const which = running === undefined ? 'just ended' : `${running.uid} (${running.kind}) runs`
  return `another change of database ${uid} is in progress: action ${which}; try again when it has ended`
}

import type { Store } from '../store/open-store.ts'
import { type Claimed, leasesStore } from './leases-store.ts'

/** More steps than a restored store can have missed; mostly one is enough. */
const STEP = 1_000

/**
 * Where agents and proxies have seen a higher epoch than this server has, which holds the bucket: its store is older than what runs. In one
 * transaction that proves the lease of `me`, the epoch becomes a higher one. Answers it; undefined: `me` does not hold the bucket under this one.
 */
export async function raiseEpoch(
  store: Store,
  me: string,
  { bucket, epoch }: Claimed,
): Promise<number | undefined> {
  return await store.transaction(async (db) => {
    if (!(await leasesStore(db, store).isHeld(me, { bucket, epoch }))) return undefined
    const raised = epoch + STEP
    await db.updateTable('buckets').set({ epoch: raised }).where('bucket', '=', bucket).execute()
    return raised
  })
}

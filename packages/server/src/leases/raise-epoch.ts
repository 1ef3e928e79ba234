import type { Store } from '../store/open-store.ts'
import { type Claimed, leasesStore } from './leases-store.ts'

/** More steps than a restored store can have missed. */
const STEP = 1_000

/**
 * Raises the epoch of a bucket after agents or proxies have seen a higher one than its holder, whose store is
 * therefore old. The same transaction proves the lease of `me`. Returns the new epoch; undefined: `me` does
 * not hold the bucket under this one.
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

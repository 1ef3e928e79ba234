import type { Db } from '../../store/open-store.ts'

export interface RevokedTokensStore {
  /** The user's tokens that were ended early. */
  listOf(userUid: number): Promise<ReadonlySet<string>>
  insert(token: { readonly id: string; readonly userUid: number; readonly expiresAt: string }): Promise<void>
  /** Forgets tokens that would have expired by now. */
  removeEnded(now: string): Promise<void>
}

/** Stores tokens that were ended early, until they would have expired. */
export function revokedTokensStore(db: Db): RevokedTokensStore {
  return {
    async listOf(userUid) {
      const rows = await db
        .selectFrom('revoked_tokens')
        .select('id')
        .where('user_uid', '=', userUid)
        .execute()
      return new Set(rows.map(({ id }) => id))
    },
    async insert({ id, userUid, expiresAt }) {
      await db
        .insertInto('revoked_tokens')
        .values({ id, user_uid: userUid, expires_at: expiresAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async removeEnded(now) {
      await db.deleteFrom('revoked_tokens').where('expires_at', '<', now).execute()
    },
  }
}

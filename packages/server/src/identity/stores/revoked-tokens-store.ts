import type { Db } from '../../store/open-store.ts'

/** Stores tokens that were ended early, until they would have expired. */
export function revokedTokensStore(db: Db) {
  return {
    /** The user's tokens that were ended early. */
    async listOf(userUid: number): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('revoked_tokens')
        .select('id')
        .where('user_uid', '=', userUid)
        .execute()
      return new Set(rows.map(({ id }) => id))
    },
    async insert({
      id,
      userUid,
      expiresAt,
    }: {
      readonly id: string
      readonly userUid: number
      readonly expiresAt: string
    }): Promise<void> {
      await db
        .insertInto('revoked_tokens')
        .values({ id, user_uid: userUid, expires_at: expiresAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    /** Forgets tokens that would have expired by now. */
    async removeEnded(now: string): Promise<void> {
      await db.deleteFrom('revoked_tokens').where('expires_at', '<', now).execute()
    },
  }
}

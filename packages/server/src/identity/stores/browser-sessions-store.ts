import type { Db } from '../../store/open-store.ts'

/** A session of a browser. Times are Unix milliseconds. */
export interface BrowserSession {
  readonly id: string
  readonly userUid: number
  /** The user's epoch when the session began. */
  readonly epoch: number
  readonly signedInMs: number
  readonly usedMs: number
}

/** Stores sessions of browsers by the digest of their secret. */
export function browserSessionsStore(db: Db) {
  return {
    async get(id: string): Promise<BrowserSession | undefined> {
      const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
      if (row === undefined) return undefined
      const { user_uid: userUid, epoch, signed_in_at, used_at } = row
      return { id, userUid, epoch, signedInMs: Date.parse(signed_in_at), usedMs: Date.parse(used_at) }
    },
    async insert({ id, userUid, epoch, signedInMs, usedMs }: BrowserSession): Promise<void> {
      const times = { signed_in_at: iso(signedInMs), used_at: iso(usedMs) }
      await db
        .insertInto('sessions')
        .values({ id, user_uid: userUid, epoch, ...times })
        .execute()
    },
    async noteUse(id: string, usedMs: number): Promise<void> {
      await db
        .updateTable('sessions')
        .set({ used_at: iso(usedMs) })
        .where('id', '=', id)
        .execute()
    },
    async remove(id: string): Promise<void> {
      await db.deleteFrom('sessions').where('id', '=', id).execute()
    },
    /** Forgets sessions that were last used before this moment. */
    async removeUnused(beforeMs: number): Promise<void> {
      await db.deleteFrom('sessions').where('used_at', '<', iso(beforeMs)).execute()
    },
  }
}

const iso = (ms: number) => new Date(ms).toISOString()

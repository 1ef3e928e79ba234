import type { HashedPassword, Password } from '../../core/identity/user.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'

/** Stores hashes of passwords (PHC strings) through `db`, which may be a transaction. */
export function passwordsStore(db: Db) {
  return {
    async listOf(userUid: number): Promise<readonly Password[]> {
      const rows = await db
        .selectFrom('passwords')
        .selectAll()
        .where('user_uid', '=', userUid)
        .orderBy('id')
        .execute()
      return rows.map(({ id, phc, issued_at, password_sha256: sha256 }) => ({
        id,
        phc,
        issuedMs: Date.parse(issued_at),
        sha256,
      }))
    },
    /** The newest password of each of these users, in Unix milliseconds. */
    async newestOf(userUids: readonly number[]): Promise<ReadonlyMap<number, number>> {
      if (userUids.length === 0) return new Map()
      const rows = await db
        .selectFrom('passwords')
        .select((eb) => ['user_uid', eb.fn.max('issued_at').as('issued_at')])
        .where('user_uid', 'in', [...userUids])
        .groupBy('user_uid')
        .execute()
      return new Map(rows.map(({ user_uid, issued_at }) => [user_uid, Date.parse(issued_at)]))
    },
    async insert(userUid: number, { phc, sha256 }: HashedPassword, now: string): Promise<void> {
      const id = await nextId(db, 'password')
      const row = { id, user_uid: userUid, phc, issued_at: now, password_sha256: sha256 }
      await db.insertInto('passwords').values(row).execute()
    },
    /** The same password with a new hash. */
    async rehash(id: number, phc: string): Promise<void> {
      await db.updateTable('passwords').set({ phc }).where('id', '=', id).execute()
    },
    /** Adds what engines need, to a password set by an older Fairlead. */
    async learn(id: number, sha256: string): Promise<void> {
      await db.updateTable('passwords').set({ password_sha256: sha256 }).where('id', '=', id).execute()
    },
    async remove(id: number): Promise<void> {
      await db.deleteFrom('passwords').where('id', '=', id).execute()
    },
    async removeAllOf(userUid: number): Promise<void> {
      await db.deleteFrom('passwords').where('user_uid', '=', userUid).execute()
    },
  }
}

import type { User } from '../core/user.ts'
import { nextId } from '../store/next-id.ts'
import type { Db } from '../store/open-store.ts'

export interface UsersStore {
  count(): Promise<number>
  get(uid: number): Promise<User | undefined>
  getByName(name: string): Promise<User | undefined>
  insert(user: Omit<User, 'uid'>, now: string): Promise<User>
}

export function usersStore(db: Db): UsersStore {
  const find = () => db.selectFrom('users').select(['uid', 'name', 'role', 'password_hash as passwordHash'])
  return {
    async count() {
      const { users } = await db
        .selectFrom('users')
        .select((eb) => eb.fn.countAll().as('users'))
        .executeTakeFirstOrThrow()
      return Number(users)
    },
    get: (uid) => find().where('uid', '=', uid).executeTakeFirst(),
    getByName: (name) => find().where('name', '=', name).executeTakeFirst(),
    async insert({ name, role, passwordHash }, now) {
      const uid = await nextId(db, 'user')
      await db
        .insertInto('users')
        .values({ uid, name, role, password_hash: passwordHash, created_at: now, changed_at: now })
        .execute()
      return { uid, name, role, passwordHash }
    },
  }
}

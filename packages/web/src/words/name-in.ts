import type { Action, Database } from '@fairlead/api'

/** The name of the database of an action; its number when it is gone. */
export function nameIn(databases: readonly Pick<Database, 'uid' | 'name'>[]): (action: Action) => string {
  const names = new Map(databases.map(({ uid, name }) => [uid, name]))
  return ({ bdb_uid: uid, object_name }) =>
    uid === null ? object_name : (names.get(uid) ?? `database ${uid}`)
}

import type { Action, Database } from '@fairlead/api'

/** The name of an action's database; its number if it was deleted. */
export function nameIn(
  databases: readonly Pick<Database, 'uid' | 'name'>[],
): (action: Pick<Action, 'bdb_uid' | 'object_name'>) => string {
  const names = new Map(databases.map(({ uid, name }) => [uid, name]))
  return ({ bdb_uid: uid, object_name }) =>
    uid === null ? object_name : (names.get(uid) ?? `database ${uid}`)
}

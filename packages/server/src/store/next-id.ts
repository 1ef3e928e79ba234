import type { Db } from './open-store.ts'

/** The next id of a kind, from 1. Ids are never reused. Call it inside a transaction. */
export async function nextId(db: Db, kind: Kind): Promise<number> {
  const ids = await nextIds(db, [kind])
  return ids[kind]
}

/** The next id of each of these kinds, in one statement. */
export async function nextIds<Of extends Kind>(
  db: Db,
  kinds: readonly Of[],
): Promise<Readonly<Record<Of, number>>> {
  const rows = await db
    .insertInto('counters')
    .values(kinds.map((name) => ({ name, value: 1 })))
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', 1) })),
    )
    .returning(['name', 'value'])
    .execute()
  return Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Record<Of, number> // one each
}

type Kind =
  | 'user'
  | 'password'
  | 'role'
  | 'acl'
  | 'audit'
  | 'database'
  | 'shard'
  | 'handover'
  | 'action_event'
  | 'database_change'

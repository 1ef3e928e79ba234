import type { Db } from './open-store.ts'

/** The next id of a kind, from 1. Ids are never given twice, also not after a deletion. Call it inside a transaction. */
export async function nextId(db: Db, kind: Kind): Promise<number> {
  const { value } = await db
    .insertInto('counters')
    .values({ name: kind, value: 1 })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', 1) })),
    )
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}

type Kind =
  | 'user'
  | 'password'
  | 'role'
  | 'audit'
  | 'database'
  | 'shard'
  | 'handover'
  | 'action_event'
  | 'database_change'

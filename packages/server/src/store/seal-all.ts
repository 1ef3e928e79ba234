import { sql } from 'kysely'
import type { Store } from './open-store.ts'

/**
 * Seals databases' secrets that an older Fairlead or a person stored unsealed. Then rewrites the file, which
 * would keep the overwritten data. Idempotent; verify the key before, because a wrong key loses the secrets.
 */
export async function sealAll(store: Store): Promise<void> {
  const sealed = await store.transaction(async (db) => {
    const databases = await db
      .selectFrom('databases')
      .select(['uid', 'admin_password', 'user_password', 'modules'])
      .where(
        sql<boolean>`admin_password not like 'sealed %' or user_password not like 'sealed %' or ${openArgs('modules')}`,
      )
      .execute()
    for (const { uid, ...open } of databases)
      await db.updateTable('databases').set(open).where('uid', '=', uid).execute()
    const shards = await db
      .selectFrom('shards')
      .select(['id', 'modules'])
      .where(openArgs('modules'))
      .execute()
    for (const { id, ...open } of shards)
      await db.updateTable('shards').set(open).where('id', '=', id).execute()
    const actions = await db
      .selectFrom('actions')
      .select(['uid', 'goal', 'asked'])
      .where(sql<boolean>`${openArgs('goal')} or ${openArgs('asked')}`)
      .execute()
    for (const { uid, ...open } of actions)
      await db.updateTable('actions').set(open).where('uid', '=', uid).execute()
    return databases.length + shards.length + actions.length
  })
  if (sealed > 0) await store.rewrite()
}

/** Matches modules with arguments as a list, not a sealed text. */
function openArgs(column: string) {
  return sql<boolean>`${sql.ref(column)} like '%"args":["%'`
}

import type { ModuleAction } from '../../core/modules/module.ts'
import type { ListPage } from '../../core/requests/list-order.ts'
import { choosePage } from '../../store/choose-page.ts'
import type { Db } from '../../store/open-store.ts'
import { wordColumn } from '../../store/stored-column.ts'
import type { Tables } from '../../store/tables.ts'
import { actionEventsStore } from './action-events-store.ts'

/** They are complete when recorded. */
const columns = { created_time: 'created_at', last_changed_time: 'created_at' }

/** Uploads and deletions of modules, complete when recorded. */
export function moduleActionsStore(db: Db) {
  const all = () => db.selectFrom('module_actions').selectAll()
  return {
    async get(uid: string): Promise<ModuleAction | undefined> {
      const row = await all().where('uid', '=', uid).executeTakeFirst()
      return row && fromRow(row)
    },
    list: async (page: ListPage<'created_time' | 'last_changed_time'>) =>
      (await choosePage(all(), columns, page).execute()).map(fromRow),
    /** Records it as ended, with its only event. Call it in its effect's transaction. */
    async insert({ uid, kind, moduleUid, createdAt }: ModuleAction): Promise<void> {
      await db
        .insertInto('module_actions')
        .values({ uid, kind, module_uid: moduleUid, created_at: createdAt })
        .execute()
      const change = { status: 'done', progress: 100, step: '', waitingFor: '', needsPerson: false } as const
      await actionEventsStore(db).append(uid, { type: 'action', change }, createdAt)
    },
  }
}

const kindOf = wordColumn('module_actions', 'kind', ['upload', 'delete'])

function fromRow(row: Tables['module_actions']): ModuleAction {
  return {
    uid: row.uid,
    kind: kindOf(row.kind, row.uid),
    moduleUid: row.module_uid,
    createdAt: row.created_at,
  }
}

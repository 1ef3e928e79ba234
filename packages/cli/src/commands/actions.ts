import type { CommonOptions, Context } from '../link/open-context.ts'
import { printList, printOne } from '../output/print-answer.ts'
import { actionColumns, actionDetails } from './describe-action.ts'
import { findAction } from './find-action.ts'
import { findDatabase } from './find-database.ts'

/** The options of `actions list`. */
export interface ListOptions extends CommonOptions {
  readonly status?: 'pending' | 'active' | 'completed' | 'failed'
  readonly database?: string
  readonly limit?: number
}

/** Prints the actions, the newest first. */
export async function listActions(context: Context, { status, database, limit }: ListOptions): Promise<void> {
  const link = await context.link()
  const query = { ...(status !== undefined && { status }), ...(limit !== undefined && { limit }) }
  const rows =
    database === undefined
      ? (await link.api.listActions({ query }))['state-machines']
      : await link.api.listDatabaseActions({
          params: { uid: (await findDatabase(link, database)).uid },
          query,
        })
  const isShown = context.answer.form === 'table' || context.answer.form === 'wide'
  const all =
    isShown && rows.length > 0 ? await link.api.listDatabases({ query: { fields: 'uid,name' } }) : []
  const names = new Map(all.map(({ uid, name }) => [uid, name]))
  const empty = 'There is no such action.'
  printList(
    context.terminal,
    { rows, columns: actionColumns(names), nameOf: ({ action_uid }) => action_uid, empty },
    context.answer,
  )
}

/** Prints one action. */
export async function showAction(context: Context, word: string): Promise<void> {
  const { action: row, name } = await findAction(await context.link(), word)
  const columns = actionDetails(name)
  printOne(context.terminal, { row, columns, nameOf: ({ action_uid }) => action_uid }, context.answer)
}

import type { Action } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { printList, printOne } from '../output/print-answer.ts'
import { actionColumns, actionDetails } from './describe-action.ts'
import { findDatabase, namesOfDatabases } from './find-database.ts'

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
  const isShown = isForPeople(context.answer.form)
  const names = isShown && rows.length > 0 ? await namesOfDatabases(link) : new Map<number, string>()
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

/** An action, and the name of its object. */
export interface Found {
  readonly action: Action
  readonly name: string
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Finds an action by its uid, or the running or newest one of a database. Throws CommandFault. */
export async function findAction(link: Link, word: string): Promise<Found> {
  const { api } = link
  if (uuid.test(word)) {
    const action = await api.getAction({ params: { uid: word } })
    return { action, name: await nameOf(link, action) }
  }
  const { uid, name } = await findDatabase(link, word)
  const all = await api.listDatabaseActions({ params: { uid }, query: { limit: 20 } })
  const chosen = all.find(({ outcome }) => outcome === null) ?? all[0]
  if (chosen === undefined)
    throw new CommandFault('not_found', `there is no action of ${name}`, { code: 'action_not_exist' })
  return { action: await api.getAction({ params: { uid: chosen.action_uid } }), name }
}

async function nameOf({ api }: Link, { bdb_uid, object_name }: Action): Promise<string> {
  if (bdb_uid === null) return object_name
  // The database may be deleted.
  const database = await api.getDatabase({ params: { uid: bdb_uid } }).catch(() => undefined)
  return database?.name ?? object_name
}

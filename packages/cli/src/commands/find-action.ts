import type { Action } from '@fairlead/api'
import type { Link } from '../link/open-link.ts'
import { CommandFault } from '../output/command-fault.ts'
import { findDatabase } from './find-database.ts'

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

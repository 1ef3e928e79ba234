import type { Database } from '@fairlead/api'
import type { Fairlead } from './start-fairlead.ts'

/** A database that serves, with the address and the password that its clients need. */
export type Served = Database & { readonly port: number; readonly password: string }

/**
 * Creates a database and waits until it serves: replicated, unless `body` says otherwise. Throws when its
 * creation fails.
 */
export async function createDatabase(
  { api, untilEnded }: Pick<Fairlead, 'api' | 'untilEnded'>,
  body: Parameters<Fairlead['api']['createDatabase']>[0]['body'],
): Promise<Served> {
  const created = await api.createDatabase({ body: { replication: true, ...body } })
  const { status, error } = await untilEnded(created.action_uid)
  if (status !== 'completed') throw new Error(`the database was not created: ${error}`)
  const database = await api.getDatabase({ params: { uid: created.uid } })
  const { port, authentication_engine_pass: password = '' } = database
  if (port === undefined) throw new Error('the database has no port')
  return { ...database, port, password }
}

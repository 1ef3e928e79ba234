import type { Action, ClusterEvent, Database } from '@fairlead/api'
import type { QueryClient } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { type ActionChange, patchAction } from './patch-action.ts'

/** Delay before lists and details are read again after the first of several events. */
const SOON_MS = 400

/** Queries that an audit record affects, by the first word of its type. */
const told = {
  user: keys.users,
  role: keys.roles,
  module: keys.modules,
  engine: keys.builds,
  cluster: keys.cluster,
  policy: keys.cluster,
  certificate: keys.cluster,
} as const

/** Applies events to cached data, and reads the rest again. Events count once: pages share a record. */
export function createEventTaker(client: QueryClient): (event: ClusterEvent) => void {
  const due = new Map<string, ReturnType<typeof setTimeout>>()
  const askAgain = (key: readonly unknown[], afterMs = SOON_MS) => {
    const name = JSON.stringify(key)
    if (due.has(name)) return
    const ask = () => {
      due.delete(name)
      void client.invalidateQueries({ queryKey: key })
    }
    due.set(name, setTimeout(ask, afterMs))
  }
  const takeAction = (event: ActionChange) => {
    const patch = (action: Action) =>
      action.action_uid === event.action_uid ? patchAction(action, event) : action
    client.setQueryData<Action>(keys.action(event.action_uid), (action) => action && patch(action))
    askAgain(keys.action(event.action_uid))
    if (event.type === 'lanes') return
    askAgain(keys.actions)
    if (event.bdb_uid !== null) askAgain(keys.shards(event.bdb_uid))
  }
  const takeDatabase = (uid: number, database: Database | null) => {
    askAgain(keys.shards(uid))
    askAgain(keys.targets(uid))
    if (database === null) {
      askAgain(keys.database(uid))
      return askAgain(keys.databases)
    }
    const merge = (old: Database) => (old.uid === uid ? withNews(old, database) : old)
    client.setQueryData<Database>(keys.database(uid), (old) => old && merge(old))
    askAgain(keys.database(uid))
    askAgain(keys.databases)
  }
  const takeRecord = (type: string) => {
    askAgain(keys.logs)
    const [about = ''] = type.split('_')
    if (about in told) askAgain(told[about as keyof typeof told])
  }
  return (event) => {
    if (event.type === 'action' || event.type === 'lanes' || event.type === 'handover') takeAction(event)
    else if (event.type === 'database') takeDatabase(event.bdb_uid, event.database)
    else if (event.type === 'node') askAgain(keys.nodes)
    else if (event.type === 'audit') takeRecord(event.record.type)
    else if (event.type === 'live') askAgain([], 0)
  }
}

/** Without `action_uid` no action runs, so an old one is removed. */
function withNews(old: Database, database: Database): Database {
  const { action_uid: _, ...others } = old
  return { ...others, ...database }
}

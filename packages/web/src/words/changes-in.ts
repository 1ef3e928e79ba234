import type { Database, operations, Sent } from '@fairlead/api'
import { fieldsOf, persistenceIn, wayOf } from './describe-persistence.ts'
import { evictionIn } from './eviction.ts'

type Changes = Sent<typeof operations.updateDatabase>['body']

const MIB = 1 << 20

/** The settings of a database that a form can change. */
export function settingsOf(database: Database): Changes {
  const { memory_size, eviction_policy, replication } = database
  return { memory_size, eviction_policy, replication, ...fieldsOf(wayOf(database)) }
}

/** What a form changes of a database, as the API takes it: the server sees only what is different. */
export function changesIn(form: FormData, database: Database): Changes {
  const eviction = evictionIn(String(form.get('eviction')))
  const entered = {
    memory_size: Math.round(Number(form.get('memory')) * MIB),
    ...(eviction !== undefined && { eviction_policy: eviction }),
    replication: form.get('replicas') === '1',
    ...fieldsOf(persistenceIn(String(form.get('persistence')))),
  }
  const has: Readonly<Record<string, unknown>> = settingsOf(database)
  return Object.fromEntries(Object.entries(entered).filter(([name, value]) => value !== has[name]))
}

import type { Body, Database, operations, Sent } from '@fairlead/api'
import { fieldsOf, persistenceIn, wayOf } from './describe-persistence.ts'
import { evictionIn } from './eviction.ts'
import { bytes } from './format.ts'

type Changes = Sent<typeof operations.updateDatabase>['body']

const MIB = 1 << 20

/** The request for a new database, as its form was filled. What is empty is left to the server. */
export function creationOf(form: FormData): Body<typeof operations.createDatabase> {
  const read = (name: string) => String(form.get(name) ?? '')
  const eviction = evictionIn(read('eviction'))
  const modules = form.getAll('module').map((name) => ({ module_name: String(name) }))
  const shards = Number(read('shards'))
  const knowsShards = form.has('cluster-protocol')
  return {
    name: read('name'),
    memory_size: Number(read('memory')) * MIB,
    shards_count: shards,
    ...((shards > 1 || knowsShards) && { sharding: true }),
    ...(knowsShards && { oss_cluster: true }),
    replication: read('replicas') === '1',
    ...fieldsOf(persistenceIn(read('persistence'))),
    ...(eviction !== undefined && { eviction_policy: eviction }),
    ...(form.has('tls') && { tls_mode: 'enabled' }),
    ...(read('port') !== '' && { port: Number(read('port')) }),
    ...(read('password') !== '' && { authentication_engine_pass: read('password') }),
    ...(modules.length > 0 && { module_list: modules }),
    ...(form.has('engine') && { engine_version: read('engine') }),
  }
}

/** What a number of replicas costs, and what it saves. */
export function sayReplicas(replicas: string, mebibytes: number): string {
  const memory = Number.isFinite(mebibytes) && mebibytes > 0 ? mebibytes * MIB : 0
  return replicas === '1'
    ? `takes ${memory === 0 ? 'as much memory' : bytes(memory)} again; when a primary dies, its replica takes over`
    : 'when a primary dies, its data are away until it has started again, with what was on disk'
}

/** The settings of a database that a form can change. */
export function settingsOf(database: Database): Changes {
  const { memory_size, eviction_policy, replication, name, port, tls_mode } = database
  return { memory_size, eviction_policy, replication, name, port, tls_mode, ...fieldsOf(wayOf(database)) }
}

/** For how long the former name, port and TLS stay valid after a change, in seconds. */
export const formerTimes = [
  { value: '', label: 'for a day; earlier ones as they are' },
  { value: '3600', label: 'for an hour' },
  { value: '604800', label: 'for a week' },
  { value: '0', label: 'no longer: their clients are closed' },
] as const

/** Names a former way to reach a database. */
export function sayFormer({
  port,
  tls_mode,
  name,
}: Omit<NonNullable<Database['former_access']>[number], 'valid_until'>): string {
  if (port === undefined) return name === undefined ? 'Former password' : `Former name ${name}`
  return `Former port ${port}, ${tls_mode === 'enabled' ? 'with' : 'without'} TLS`
}

/** What a form changes of a database, as the API takes it: the server sees only what is different. */
export function changesIn(form: FormData, database: Database): Changes {
  const eviction = evictionIn(String(form.get('eviction')))
  const entered = {
    memory_size: Math.round(Number(form.get('memory')) * MIB),
    ...(eviction !== undefined && { eviction_policy: eviction }),
    replication: form.get('replicas') === '1',
    ...fieldsOf(persistenceIn(String(form.get('persistence')))),
    name: String(form.get('name')),
    ...(form.has('port') && { port: Number(form.get('port')), tls_mode: form.get('tls') }),
    ...(form.get('password') !== '' && { authentication_engine_pass: String(form.get('password')) }),
    ...(form.get('former') !== '' && { former_valid_seconds: Number(form.get('former')) }),
  }
  const has: Readonly<Record<string, unknown>> = settingsOf(database)
  return Object.fromEntries(Object.entries(entered).filter(([name, value]) => value !== has[name]))
}

import type { Database } from '@fairlead/api'
import { persistenceWords } from '@fairlead/api/lean'
import type { Column } from '../output/print-answer.ts'
import { showBytes } from '../output/show-quantity.ts'
import type { Style } from '../output/terminal.ts'
import { placeOf } from './reach.ts'

/** Columns of a list of databases. */
export const databaseColumns: readonly Column<Database>[] = [
  { name: 'uid', value: ({ uid }) => uid, isWide: true },
  { name: 'name', value: ({ name }) => name },
  {
    name: 'status',
    value: ({ status }) => status,
    shown: ({ status, rollback_window: ends }, { glyphs }) =>
      `${glyphs.dot} ${ends === undefined ? status : 'rollback window open'}`,
    style: ({ status }) => styleOf(status),
  },
  { name: 'engine', value: servingOf, narrow: 'whole' },
  {
    name: 'goes_to',
    value: ({ upgradable_to: to }) => (to ? `${to.engine} ${to.engine_version}` : ''),
    shown: ({ upgradable_to: to, engine }) =>
      to?.engine === engine ? to.engine_version : to ? buildOf(to) : '',
    narrow: 'whole',
  },
  {
    name: 'groups',
    value: (row) => groupsOf(row, 'x'),
    shown: (row, { glyphs }) => groupsOf(row, glyphs.by),
    narrow: 'spare',
  },
  {
    name: 'endpoint',
    value: placeOf,
    shown: (row) => placeOf(row).replace(/^127\.0\.0\.1(?=:)/, ''),
  },
  {
    name: 'memory',
    value: ({ memory_size }) => memory_size,
    shown: ({ memory_size }) => (memory_size === 0 ? 'no limit' : showBytes(memory_size)),
    isWide: true,
  },
  { name: 'persistence', value: ({ data_persistence }) => data_persistence, isWide: true },
  { name: 'created', value: ({ created_time }) => created_time, isWide: true },
]

/** The same with the whole address of the endpoint, to be pasted. */
export const addressedColumns: readonly Column<Database>[] = databaseColumns.map((column) =>
  column.name === 'endpoint' ? { name: column.name, value: column.value } : column,
)

/** Columns of a single database. */
export const detailColumns: readonly Column<Database>[] = [
  ...addressedColumns.map(({ isWide: _, ...column }) => column),
  { name: 'status_reason', value: ({ status_reason }) => status_reason, style: () => 'warn' },
  { name: 'rollback_window', value: ({ rollback_window }) => rollback_window ?? '' },
  {
    name: 'on_record',
    value: ({ on_record, ...row }) => (buildOf(on_record) === buildOf(row) ? '' : buildOf(on_record)),
  },
  { name: 'saves', value: rulesOf },
  { name: 'eviction', value: ({ eviction_policy }) => eviction_policy },
  { name: 'tls', value: ({ tls_mode }) => tls_mode },
  { name: 'former_access', value: formerOf },
  { name: 'cluster_protocol', value: ({ oss_cluster }) => oss_cluster },
  {
    name: 'modules',
    value: ({ module_list }) =>
      module_list.map(({ module_name, semantic_version }) => `${module_name} ${semantic_version}`).join(', '),
  },
  { name: 'shards', value: ({ shard_list }) => shard_list.join(' ') },
  { name: 'action', value: ({ action_uid }) => action_uid ?? '' },
]

/** "valkey 8.1.1", or while groups differ "redis 7.0.15 (1), valkey 8.1.1 (2)". */
function servingOf({ serving, ...named }: Database): string {
  if (serving.length < 2) return buildOf(named)
  return serving.map((build) => `${buildOf(build)} (${build.primaries})`).join(', ')
}

/** "redis 7.0.15". */
export function buildOf({ engine, engine_version }: Pick<Database, 'engine' | 'engine_version'>): string {
  return `${engine} ${engine_version}`
}

/** When data is saved: the policy of the append-only file, or "seconds:writes" of each snapshot. */
function rulesOf({ data_persistence: kind, aof_policy, snapshot_policy }: Database): string {
  if (kind === 'disabled') return ''
  if (kind === 'aof') return aof_policy
  return snapshot_policy.map(({ secs, writes }) => `${secs}:${writes}`).join(' ')
}

/** "port 12000 until 2026-12-02T12:00:00.000Z, …": what clients may still use. */
function formerOf({ former_access: former = [] }: Database): string {
  return former
    .map(({ port, tls_mode, name, valid_until }) => {
      const place = `port ${port} ${tls_mode === 'enabled' ? 'with' : 'without'} TLS`
      const other = name === undefined ? 'a password' : `name ${name}`
      return `${port === undefined ? other : place} until ${valid_until}`
    })
    .join(', ')
}

/** Describes the copies of the data, and what a power failure loses. */
export function describeCopies({
  replication,
  data_persistence: kind,
  aof_policy: policy,
}: Database): string {
  const copies = replication ? 'A replica for each primary' : 'No replica: away while a process restarts'
  return `${copies}; ${persistenceWords[kind === 'aof' ? policy : kind]}`
}

function groupsOf({ shards_count, replication }: Database, by: string): string {
  return `${shards_count}${by}${replication ? 2 : 1}`
}

function styleOf(status: Database['status']): Style {
  if (status === 'active') return 'good'
  return status === 'recovery' || status === 'creation-failed' ? 'bad' : 'warn'
}

import type { Database, operations, Sent } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useOrder } from '../../live/use-order.ts'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SettingsList } from '../../parts/settings-list.tsx'
import { persistenceOf, rulesOf } from '../../words/describe-persistence.ts'
import { bytes, fullTime, plural } from '../../words/format.ts'

const evictions: Readonly<Record<Database['eviction_policy'], string>> = {
  noeviction: 'nothing: writes are refused when the memory is full',
  'allkeys-lru': 'keys that were not used for the longest time',
  'allkeys-lfu': 'keys that are used the least',
  'allkeys-random': 'any keys',
  'volatile-lru': 'keys with a time to live that were not used for the longest time',
  'volatile-lfu': 'keys with a time to live that are used the least',
  'volatile-random': 'any keys with a time to live',
  'volatile-ttl': 'keys whose time to live ends first',
}
const evictionNames = Object.keys(evictions) as readonly Database['eviction_policy'][]

/** Uses the same text everywhere, with the name in the API and command line. */
function sayEviction(policy: Database['eviction_policy']): string {
  return `${policy}: ${evictions[policy]}`
}

const modes: Readonly<Record<Database['tls_mode'], string>> = {
  enabled: 'TLS, and nothing else',
  disabled: 'plain, without TLS',
}

/** Settings of the database. Memory and eviction can change while it serves; the rest is fixed. */
export function SettingsCard({ database }: { readonly database: Database }) {
  const may = useMay()
  const {
    memory_size: memory,
    replication,
    shards_count: groups,
    oss_cluster: isCluster,
    eviction_policy: eviction,
  } = database
  const rules = rulesOf(database)
  const rows: readonly (readonly [string, string])[] = [
    ['Memory for clients', memory === 0 ? 'without a limit' : bytes(memory)],
    ['When it is full, it drops', sayEviction(eviction)],
    ['Copies', replication ? 'each group has a replica' : 'none: a group has one process'],
    ['Groups', `${plural(groups, 'group')}${isCluster ? '; clients speak the cluster protocol' : ''}`],
    ['Kept on disk', persistenceOf(database)],
    ...(rules === '' ? [] : [['Snapshots', rules] as const]),
    ['Clients speak', modes[database.tls_mode]],
    ['Modules', database.module_list.map(sayModule).join(', ') || 'none'],
    ['Created', fullTime(database.created_time)],
  ]
  return (
    <Card title="Settings">
      <SettingsList of={rows} />
      {may('update_bdb', database.uid) && <Change key={`${memory} ${eviction}`} database={database} />}
    </Card>
  )
}

const MIB = 1 << 20

/** A new element when the values have changed, because a default is read only once. */
function Change({ database }: { readonly database: Database }) {
  const isStale = useIsStale()
  const change = useChange(database.uid)
  const { memory_size: memory, eviction_policy: eviction } = database
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const mebibytes = Number(form.get('memory'))
    const chosen = evictionNames.find((one) => one === form.get('eviction'))
    change.mutate({
      ...(mebibytes !== memory / MIB && { memory_size: Math.round(mebibytes * MIB) }),
      ...(chosen !== undefined && chosen !== eviction && { eviction_policy: chosen }),
    })
  }
  return (
    <form className="form form-line" onSubmit={submit} autoComplete="off">
      <label>
        Memory in MiB (0: no limit)
        <input name="memory" type="number" min={0} step="any" required defaultValue={memory / MIB} />
      </label>
      <label>
        When it is full, it drops
        <select name="eviction" defaultValue={eviction}>
          {evictionNames.map((one) => (
            <option key={one} value={one}>
              {sayEviction(one)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="button" disabled={isStale || change.isPending}>
        Change
      </button>
      {change.error !== null && <Problem error={change.error} />}
      <span role="status">{change.isSuccess && 'Changed'}</span>
    </form>
  )
}

type Changes = Sent<typeof operations.updateDatabase>['body']

function useChange(uid: number) {
  const client = useQueryClient()
  return useOrder({
    mutationFn: (body: Changes) => api.updateDatabase({ params: { uid }, body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.database(uid) }),
  })
}

function sayModule({
  module_name: name,
  semantic_version: version,
}: Database['module_list'][number]): string {
  return `${name} ${version}`
}

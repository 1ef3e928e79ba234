import type { Database } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link } from 'wouter'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useOrder } from '../../live/use-order.ts'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SettingsList } from '../../parts/settings-list.tsx'
import { changesIn, formerTimes, sayFormer, settingsOf } from '../../words/database-forms.ts'
import { persistenceOf, persistences, rulesOf, wayOf } from '../../words/describe-persistence.ts'
import { evictionNames, sayEviction } from '../../words/eviction.ts'
import { bytes, count, fullTime } from '../../words/format.ts'

const modes: Readonly<Record<Database['tls_mode'], string>> = {
  enabled: 'clients speak TLS, and nothing else',
  disabled: 'none: clients speak without it',
}

/** Settings of the database. Some can change while it serves; the rest is fixed. */
export function SettingsCard({ database }: { readonly database: Database }) {
  const may = useMay()
  const {
    memory_size: memory,
    replication,
    shards_count: groups,
    oss_cluster: isCluster,
    eviction_policy: eviction,
    former_access: former = [],
  } = database
  const rules = rulesOf(database)
  const rows: readonly (readonly [string, string])[] = [
    ['Memory for clients', memory === 0 ? 'without a limit' : bytes(memory)],
    ['Eviction, when it is full', sayEviction(eviction)],
    ['Shards', `${count(groups)}${isCluster ? '; clients speak the cluster protocol' : ''}`],
    ['Replicas', replication ? 'one for each shard' : 'none'],
    ['Persistence', persistenceOf(database)],
    ...(rules === '' ? [] : [['Snapshots', rules] as const]),
    ['TLS', modes[database.tls_mode]],
    ...former.map(
      ({ valid_until, ...access }) => [sayFormer(access), `valid until ${fullTime(valid_until)}`] as const,
    ),
    ['Modules', database.module_list.map(sayModule).join(', ') || 'none'],
    ['Created', fullTime(database.created_time)],
  ]
  return (
    <Card title="Settings">
      <SettingsList of={rows} />
      {may('update_bdb', database.uid) && (
        <Change key={JSON.stringify(settingsOf(database))} database={database} />
      )}
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
    change.mutate(changesIn(new FormData(event.currentTarget), database))
  }
  return (
    <form className="form form-line" onSubmit={submit} autoComplete="off">
      <label>
        Memory in MiB (0: no limit)
        <input name="memory" type="number" min={0} step="any" required defaultValue={memory / MIB} />
      </label>
      <label>
        Eviction, when it is full
        <select name="eviction" defaultValue={eviction}>
          {evictionNames.map((one) => (
            <option key={one} value={one}>
              {sayEviction(one)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Replicas
        <select name="replicas" defaultValue={database.replication ? '1' : '0'}>
          <option value="1">One for each shard</option>
          <option value="0">None</option>
        </select>
      </label>
      <label>
        Persistence
        <select name="persistence" defaultValue={wayOf(database)}>
          {persistences.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Access database={database} />
      <button type="submit" className="button" disabled={isStale || change.isPending}>
        Change
      </button>
      {change.error !== null && <Problem error={change.error} />}
      <span role="status">{change.data && <Changed database={change.data} />}</span>
    </form>
  )
}

/** How clients reach the database, and for how long as before. */
function Access({ database }: { readonly database: Database }) {
  return (
    <>
      <label>
        Name
        <input name="name" required maxLength={63} defaultValue={database.name} />
      </label>
      {!database.oss_cluster && (
        <>
          <label>
            Port
            <input name="port" type="number" min={1} max={65_535} required defaultValue={database.port} />
          </label>
          <label>
            TLS
            <select name="tls" defaultValue={database.tls_mode}>
              <option value="disabled">Clients speak without it</option>
              <option value="enabled">Clients speak TLS</option>
            </select>
          </label>
        </>
      )}
      <label>
        New password (empty: as it is)
        <input name="password" type="password" minLength={8} maxLength={256} autoComplete="new-password" />
      </label>
      <label>
        Former name, port, TLS and password stay valid
        <select name="former" defaultValue="">
          {formerTimes.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

/** A change that starts or ends processes takes an action. */
function Changed({ database: { action_uid: action } }: { readonly database: Database }) {
  return action === undefined ? 'Changed' : <Link href={`/actions/${action}`}>It is being changed</Link>
}

function useChange(uid: number) {
  const client = useQueryClient()
  return useOrder({
    mutationFn: (body: ReturnType<typeof changesIn>) => api.updateDatabase({ params: { uid }, body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.database(uid) }),
  })
}

function sayModule({
  module_name: name,
  semantic_version: version,
}: Database['module_list'][number]): string {
  return `${name} ${version}`
}

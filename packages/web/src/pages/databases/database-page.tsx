import type { Database, LogEntry } from '@fairlead/api'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { useActionsOf, useSeries, useShards } from '../../live/queries.ts'
import { useDatabaseByName } from '../../live/use-database-by-name.ts'
import { useLosses } from '../../live/use-losses.ts'
import { ActionLines } from '../../parts/action-lines.tsx'
import { ButtonLink } from '../../parts/button-link.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer, Problem } from '../../parts/problem.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { valuesOf } from '../../words/curve-of.ts'
import { courseOf, groupsOf, markOfDatabase, servingOf } from '../../words/describe-database.ts'
import { persistenceOf } from '../../words/describe-persistence.ts'
import { bytes, count, milliseconds, short } from '../../words/format.ts'
import { spanOf } from '../../words/span-of.ts'
import { ClientsCard } from './clients-card.tsx'
import { ConnectCard } from './connect-card.tsx'
import { DeletionCard } from './deletion-card.tsx'
import { NoDatabase } from './no-database.tsx'
import { SettingsCard } from './settings-card.tsx'
import { ShardsCard } from './shards-card.tsx'

/** A database: processes, connection, actions, settings, and deletion. */
export function DatabasePage({ name }: { readonly name: string }) {
  const { data: database, error, refetch } = useDatabaseByName(name)
  if (database === null) return <NoDatabase name={name} />
  if (database === undefined)
    return (
      <Page title={name} above={{ to: '/databases', label: 'Databases' }}>
        {error === null ? (
          <div className="skeleton" style={{ minHeight: 320 }} />
        ) : (
          <Problem error={error} retry={refetch} />
        )}
      </Page>
    )
  return <OneDatabase database={database} />
}

function OneDatabase({ database }: { readonly database: Database }) {
  const [actions, shards] = [useActionsOf(database.uid), useShards(database.uid)]
  const losses = useLosses(database.uid)
  const action = actions.data?.find(({ action_uid }) => action_uid === database.action_uid)
  const goes = courseOf(action)
  return (
    <Page
      title={database.name}
      above={{ to: '/databases', label: 'Databases' }}
      beside={<MarkView mark={markOfDatabase(database, useNow())} />}
      actions={<Buttons database={database} />}
    >
      <p className="facts">
        <span>{servingOf(database)}</span>
        <span>{groupsOf(database)} processes</span>
        <span>{persistenceOf(database)}</span>
        {database.tls_mode === 'enabled' && <span>TLS</span>}
        {/* Last, because it arrives later than the others. */}
        {goes !== null && <span>{`${goes[1]}: ${goes[0]}`}</span>}
      </p>
      {database.status_reason !== '' && <p className="banner">{database.status_reason}</p>}
      <div className="database-grid">
        <div className="stack">
          <ShardsCard database={database} />
          {isAnswered(shards) && <Activity of={actions} losses={losses ?? []} />}
        </div>
        <div className="stack">
          <ConnectCard database={database} />
          <NowCard uid={database.uid} />
        </div>
      </div>
      {[actions, shards].every(isAnswered) && losses !== undefined && <Below database={database} />}
    </Page>
  )
}

function isAnswered({ data, error }: Pick<UseQueryResult, 'data' | 'error'>): boolean {
  return data !== undefined || error !== null
}

/**
 * Waits until everything above has its height: nothing may move under the pointer, least of all a deletion.
 * The page queries for it, because a part with separate queries could be drawn a moment earlier.
 */
function Below({ database }: { readonly database: Database }) {
  return (
    <>
      <ClientsCard uid={database.uid} />
      <SettingsCard database={database} />
      <DeletionCard database={database} />
    </>
  )
}

function Buttons({ database }: { readonly database: Database }) {
  const may = useMay()
  const { uid, action_uid: action } = database
  if (action !== undefined)
    return (
      <Link href={`/actions/${action}`} className="button button-main">
        Watch the change
      </Link>
    )
  if (!may('update_bdb_with_action', uid)) return null
  return <ButtonLink to={`/databases/${uid}/upgrade`}>Upgrade…</ButtonLink>
}

const rows = [
  { name: 'total_req', label: 'Requests/s', show: short },
  { name: 'latency_p99', label: 'p99', show: (micros: number) => milliseconds(micros / 1_000) },
  { name: 'used_memory', label: 'Memory', show: bytes },
  { name: 'no_of_keys', label: 'Keys', show: count },
  { name: 'conns', label: 'Clients', show: count },
] as const
/** Up to the last quarter of an hour, in five numbers. */
function NowCard({ uid }: { readonly uid: number }) {
  const may = useMay()
  const isAllowed = may('view_bdb_stats', uid)
  const { data } = useSeries(uid, isAllowed)
  if (!isAllowed) return null
  const points = data ?? []
  const last = points.at(-1)
  const span = spanOf(
    points,
    rows.map(({ name }) => name),
  )
  // Without an answer, it is not known whether anything was measured.
  const about = data === undefined ? '' : span === null ? 'nothing measured yet' : `last ${span}`
  return (
    <Card title="Now" beside={<span className="muted">{about}</span>}>
      <dl className="now">
        {rows.map(({ name, label, show }) => {
          const value = last?.[name]
          return (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{value === undefined ? '–' : show(value)}</dd>
              <dd>
                <Sparkline values={valuesOf(points, (point) => point[name])} label={`${label}, ${about}`} />
              </dd>
            </div>
          )
        })}
      </dl>
    </Card>
  )
}

interface ActivityProps {
  readonly of: ReturnType<typeof useActionsOf>
  readonly losses: readonly LogEntry[]
}

/** Actions and possible losses of a database, the newest first. */
function Activity({ of: actions, losses }: ActivityProps) {
  const may = useMay()
  if (!may('view_status_of_cluster_action')) return null
  return (
    <Card title="Activity">
      <Answer of={actions} height={96}>
        {(all) => <ActionLines actions={all} losses={losses} />}
      </Answer>
    </Card>
  )
}

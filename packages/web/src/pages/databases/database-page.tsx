import { ApiError, type Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useMay } from '../../live/permissions.ts'
import { useDatabaseByName } from '../../live/use-database-by-name.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Problem } from '../../parts/problem.tsx'
import { Version } from '../../parts/version.tsx'
import { groupsOf, markOfDatabase } from '../../words/describe-database.ts'
import { Activity } from './activity.tsx'
import { ConnectCard } from './connect-card.tsx'
import { NowCard } from './now-card.tsx'
import { ShardsCard } from './shards-card.tsx'

const persistences: Readonly<Record<Database['data_persistence'], string>> = {
  aof: 'each write on disk',
  snapshot: 'snapshots on disk',
  disabled: 'nothing on disk',
}

/** One database: its processes, how to connect, and what was done with it. */
export function DatabasePage({ name }: { readonly name: string }) {
  const { data: database, error, refetch } = useDatabaseByName(name)
  const isGone = database === null || (error instanceof ApiError && error.status === 404)
  if (isGone) return <Gone name={name} />
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
  return (
    <Page
      title={database.name}
      above={{ to: '/databases', label: 'Databases' }}
      beside={<MarkView mark={markOfDatabase(database)} />}
      actions={<Buttons database={database} />}
    >
      <p className="facts">
        <Version of={database} />
        <span>{groupsOf(database)} processes</span>
        <span>{persistences[database.data_persistence]}</span>
        {database.tls_mode === 'enabled' && <span>TLS</span>}
      </p>
      {database.status_reason !== '' && <p className="banner">{database.status_reason}</p>}
      <div className="database-grid">
        <ShardsCard database={database} />
        <div className="stack">
          <ConnectCard database={database} />
          <NowCard uid={database.uid} />
        </div>
      </div>
      <Activity uid={database.uid} />
    </Page>
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
  return (
    <Link href={`/databases/${uid}/upgrade`} className="button button-main">
      Upgrade…
    </Link>
  )
}

function Gone({ name }: { readonly name: string }) {
  return (
    <Page title={name} above={{ to: '/databases', label: 'Databases' }}>
      <Empty title="There is no such database">
        It was deleted, or there has never been one, or your roles do not let you see it.
        <p>
          <Link href="/databases" className="button">
            All databases
          </Link>
        </p>
      </Empty>
    </Page>
  )
}

import type { Action, Database } from '@fairlead/api'
import { useMay } from '../../live/permissions.ts'
import {
  type DatabasesQuery,
  useBuilds,
  useDatabases,
  useKnownActions,
  useLastStats,
} from '../../live/queries.ts'
import { usePage, useQueryState } from '../../live/use-query-state.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { Table } from '../../parts/table.tsx'
import { nameOfRuns } from '../../words/describe-action.ts'
import { plural } from '../../words/format.ts'
import { databaseColumns } from './database-columns.tsx'
import { FirstDatabase } from './first-database.tsx'

const SIZE = 200
const statuses: readonly Database['status'][] = [
  ...(['active', 'active-change-pending', 'pending'] as const),
  ...(['recovery', 'creation-failed', 'delete-pending'] as const),
]
const sorts = [
  ['name', 'By name'],
  ['-memory_size', 'By memory'],
  ['-last_changed_time', 'Changed last'],
  ['uid', 'By number'],
] as const

/** All databases, filtered and sorted by the server. */
export function Databases() {
  const may = useMay()
  const { first, go } = usePage(SIZE)
  const { query, isFiltered } = useFilters()
  const databases = useDatabases({ ...query, limit: SIZE, ...(first > 0 && { offset: first }) })
  const mayAsk = may('view_status_of_cluster_action')
  const actions = useKnownActions(mayAsk)
  // Waits for data that would move the columns.
  const isWhole = !mayAsk || actions.data !== undefined || actions.error !== null
  const create = may('create_bdb') && <ButtonLink to="/databases/new">New database</ButtonLink>
  return (
    <Page title="Databases" actions={create}>
      <Filters />
      <Answer of={isWhole ? databases : { ...databases, data: undefined }} height={320}>
        {(rows) =>
          rows.length === 0 && !isFiltered && first === 0 ? (
            <FirstDatabase />
          ) : (
            <>
              <DatabaseTable
                rows={rows}
                isPart={first > 0 || rows.length === SIZE}
                actions={actions.data ?? []}
              />
              <Pager first={first} count={rows.length} size={SIZE} go={go} />
            </>
          )
        }
      </Answer>
    </Page>
  )
}

/** The address's filters for the API. */
function useFilters(): { readonly query: DatabasesQuery; readonly isFiltered: boolean } {
  const [q] = useQueryState('q')
  const [status] = useQueryState('status')
  const [version] = useQueryState('version')
  const [sort] = useQueryState('sort')
  const query = {
    ...(q !== '' && { q }),
    // Any text of the address: the server refuses unknown ones.
    ...(status !== '' && { status: status as Database['status'] }),
    ...(version !== '' && { engine_version: version }),
    sort: (sort === '' ? 'name' : sort) as NonNullable<DatabasesQuery['sort']>,
  }
  return { query, isFiltered: q !== '' || status !== '' || version !== '' }
}

function Filters() {
  const may = useMay()
  const [q, setQ] = useQueryState('q')
  const builds = useBuilds(may('view_cluster_info')).data ?? []
  const versions = builds.map((build) => [nameOfRuns(build), nameOfRuns(build)] as const)
  return (
    <search className="filters">
      <input
        type="search"
        aria-label="Filter by name or number"
        placeholder="Name or number"
        value={q}
        maxLength={63}
        onChange={(event) => setQ(event.target.value)}
      />
      <Filter
        name="status"
        label="Status"
        options={[['', 'Any status'], ...statuses.map((one) => [one, one] as const)]}
      />
      <Filter name="version" label="Version" options={[['', 'Any version'], ...versions]} />
      <Filter name="sort" label="Order" options={sorts} />
    </search>
  )
}

function Filter(props: {
  readonly name: string
  readonly label: string
  readonly options: readonly (readonly [value: string, label: string])[]
}) {
  const [value, set] = useQueryState(props.name)
  return (
    <select
      aria-label={props.label}
      value={value || (props.options[0]?.[0] ?? '')}
      onChange={(event) => set(event.target.value)}
    >
      {props.options.map(([option, label]) => (
        <option key={option} value={option}>
          {label}
        </option>
      ))}
    </select>
  )
}

interface DatabaseTableProps {
  readonly rows: readonly Database[]
  /** There are other pages. */
  readonly isPart: boolean
  readonly actions: readonly Action[]
}

function DatabaseTable({ rows, isPart, actions }: DatabaseTableProps) {
  const may = useMay()
  const stats = useLastStats(may('view_all_bdb_stats')).data
  const builds = useBuilds(may('view_cluster_info')).data ?? []
  const holes = new Map(builds.map((build) => [nameOfRuns(build), build.known_holes]))
  const known = new Map(actions.map((action) => [action.action_uid, action]))
  return (
    <>
      <Counts rows={rows} isPart={isPart} />
      {rows.length === 0 ? (
        <Empty title="No database is like this">Change or clear the filters.</Empty>
      ) : (
        <Table
          label="Databases"
          columns={databaseColumns}
          keyOf={({ database }) => database.uid}
          rows={rows.map((database) => ({
            database,
            action: known.get(database.action_uid ?? ''),
            stats: stats?.[database.uid],
            holes,
          }))}
        />
      )}
    </>
  )
}

/** The number of listed databases. */
function Counts({ rows, isPart }: Pick<DatabaseTableProps, 'rows' | 'isPart'>) {
  const upgradable = rows.filter(
    ({ upgradable_to, action_uid }) => upgradable_to != null && action_uid === undefined,
  ).length
  return (
    <p className="muted table-note">
      {plural(rows.length, 'database')}
      {isPart && ' on this page'}
      {upgradable > 0 && ` · ${upgradable} can be upgraded`}
    </p>
  )
}

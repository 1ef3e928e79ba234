import type { Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { type StatsPoint, useLastStats, useLinks } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { markOfDatabase } from '../../words/describe-database.ts'
import { errorsOf, memoryOf, replicasOf, type Said } from '../../words/describe-health.ts'
import { count, milliseconds, short } from '../../words/format.ts'
import type { Known } from './needs-you.tsx'

/** Each row asks the shards of its database for their links. */
const MOST = 12

interface Row {
  readonly database: Database
  readonly stats: StatsPoint | undefined
}

const columns: readonly Column<Row>[] = [
  {
    name: 'Database',
    cell: ({ database: { uid, name } }) => <Link href={`/databases/${uid}`}>{name}</Link>,
  },
  { name: 'State', wraps: true, cell: (row) => <State {...row} /> },
  {
    name: 'Requests/s',
    number: true,
    cell: ({ stats }) => (stats?.total_req === undefined ? '–' : short(stats.total_req)),
  },
  {
    name: 'p99',
    number: true,
    cell: ({ stats }) => (stats?.latency_p99 === undefined ? '–' : milliseconds(stats.latency_p99 / 1_000)),
  },
  {
    name: 'Memory',
    wraps: true,
    cell: ({ database, stats }) => (
      <Words of={memoryOf(stats ?? {}, database)} title={database.replication ? withBacklog : undefined} />
    ),
  },
  { name: 'Replicas', wraps: true, cell: (row) => <Replicas {...row} /> },
  { name: 'Errors', number: true, cell: (row) => <Errors {...row} /> },
]

const withBacklog = 'With the replication backlog, which comes on top of the limit'

/** The health of each database in numbers, the ill ones first. */
export function HealthCard({ databases }: Pick<Known, 'databases'>) {
  const stats = useLastStats(useMay()('view_all_bdb_stats')).data
  const shown = databases.toSorted((a, b) => illness(b) - illness(a) || a.name.localeCompare(b.name))
  const ill = databases.filter((one) => illness(one) > 0).length
  return (
    <Card
      title="Health"
      className="wide"
      beside={
        <span data-tone={ill === 0 ? 'quiet' : 'bad'}>
          {ill === 0 ? 'every database is active' : `${count(ill)} of ${count(databases.length)} not well`}
          {databases.length > MOST && (
            <>
              {' · '}
              <Link href="/databases">all {count(databases.length)}</Link>
            </>
          )}
        </span>
      }
    >
      <Table
        label="Health of databases"
        as="fixed"
        columns={columns}
        keyOf={({ database }) => database.uid}
        rows={shown.slice(0, MOST).map((database) => ({
          database,
          stats: stats?.[database.uid],
        }))}
      />
    </Card>
  )
}

function illness({ status }: Database): number {
  return status === 'recovery' || status === 'creation-failed' ? 1 : 0
}

function State({ database }: Row) {
  return <MarkView mark={markOfDatabase(database, useNow())} />
}

function Words({ of: { words, tone }, title }: { readonly of: Said; readonly title?: string | undefined }) {
  return (
    <span data-tone={tone} title={title}>
      {words}
    </span>
  )
}

function Replicas({ database: { uid, replication } }: Row) {
  return <Words of={replicasOf(useLinks(uid).data?.shards, replication)} />
}

function Errors({ database: { uid } }: Row) {
  const endpoint = useLinks(uid).data?.endpoint
  return <Words of={errorsOf(endpoint?.errors)} title={endpoint?.last_error || undefined} />
}

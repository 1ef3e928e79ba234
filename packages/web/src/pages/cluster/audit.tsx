import type { LogEntry } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { type LogsQuery, MOST_DATABASES, useDatabases, useLogs } from '../../live/queries.ts'
import { usePage, useQueryState } from '../../live/use-query-state.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { typeOf, whatOf } from '../../words/describe-record.ts'
import { clockTime, fullTime } from '../../words/format.ts'

const SIZE = 30
const columnsAt = (now: number, names: ReadonlyMap<string, string>): readonly Column<LogEntry>[] => [
  {
    name: 'Time',
    title: (record) => fullTime(record.recorded_at),
    cell: (record) => clockTime(record.recorded_at, now),
  },
  { name: 'What', cell: whatOf },
  {
    name: 'By',
    wraps: true,
    cell: ({ originator }) => (originator === '' ? 'Fairlead' : originator),
  },
  { name: 'From', mono: true, wraps: true, room: 'medium', cell: (record) => record.address },
  {
    name: 'Database',
    wraps: true,
    cell: ({ bdb_uid: uid }) =>
      uid !== undefined && <Link href={`/databases/${uid}`}>{names.get(uid) ?? uid}</Link>,
  },
  { name: 'Details', wraps: 'long', cell: detailsOf },
]
const fields = [
  { name: 'originator', label: 'By user' },
  { name: 'type', label: 'What was done', title: 'All of it, as the list has it: bdb created' },
  { name: 'database', label: 'Database number' },
] as const

/** The audit, the newest record first. */
export function Audit() {
  const { first, go } = usePage(SIZE)
  const query = useFilters()
  const logs = useLogs({ ...query, limit: SIZE, offset: first })
  const names = useNames()
  return (
    <Page
      title="Audit"
      actions={<CopyButton text="fairlead audit verify" label="Copy the command that verifies it" />}
    >
      <search className="filters">
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
      </search>
      <Answer of={names === undefined ? { ...logs, data: undefined } : logs} height={400}>
        {(records) => (
          <>
            {records.length === 0 ? (
              <Empty title="No record is like this" />
            ) : (
              <Records of={records} names={names ?? new Map()} />
            )}
            <Pager first={first} count={records.length} size={SIZE} go={go} />
          </>
        )}
      </Answer>
    </Page>
  )
}

function useFilters(): LogsQuery {
  const [originator] = useQueryState('originator')
  const [type] = useQueryState('type')
  const [database] = useQueryState('database')
  // The server refuses invalid filters: an omitted one would show all records.
  const name = typeOf(type)
  return {
    ...(originator !== '' && { originator }),
    ...(name !== '' && { type: name }),
    ...(database !== '' && { bdb_uid: Number(database) }),
  }
}

function Field({
  name,
  label,
  title,
}: {
  readonly name: string
  readonly label: string
  readonly title?: string
}) {
  const [value, set] = useQueryState(name)
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      title={title}
      value={value}
      onChange={(event) => set(event.target.value)}
    />
  )
}

interface RecordsProps {
  readonly of: readonly LogEntry[]
  readonly names: ReadonlyMap<string, string>
}

function Records({ of: records, names }: RecordsProps) {
  return (
    <Table
      label="Records of the audit"
      as="log"
      columns={columnsAt(useNow(), names)}
      keyOf={({ uid }) => uid}
      rows={records}
    />
  )
}

/** Names of databases by uid; undefined: not known yet, and would move the columns. */
function useNames(): ReadonlyMap<string, string> | undefined {
  const isAllowed = useMay()('view_all_bdbs_info')
  const { data, error } = useDatabases({ limit: MOST_DATABASES, fields: 'uid,name' }, isAllowed)
  if (isAllowed && data === undefined && error === null) return undefined
  return new Map(data?.map(({ uid, name }) => [String(uid), name]))
}

function detailsOf({ details }: LogEntry): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(' · ')
}

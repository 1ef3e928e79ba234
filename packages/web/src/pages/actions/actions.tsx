import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useActions, useDatabases } from '../../live/queries.ts'
import { usePage, useQueryState } from '../../live/use-query-state.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { longestStop } from '../../words/certificate-text.ts'
import { headlineOf, markOf, whatItDoes } from '../../words/describe-action.ts'
import { clockTime } from '../../words/format.ts'
import { nameIn } from '../../words/name-in.ts'

const SIZE = 100
const statuses: readonly Action['status'][] = ['active', 'pending', 'completed', 'failed']
const columnsAt = (now: number, nameOf: (action: Action) => string): readonly Column<Action>[] => [
  {
    name: 'Database',
    cell: (action) => <Link href={`/actions/${action.action_uid}`}>{nameOf(action)}</Link>,
    title: nameOf,
  },
  { name: 'What', cell: whatItDoes },
  {
    name: 'Where it is',
    wraps: true,
    cell: (action) => <MarkView mark={{ ...markOf(action), label: headlineOf(action) }} />,
  },
  { name: 'By', wraps: true, room: 'medium', cell: (action) => action.requested_by },
  { name: 'Begun', cell: (action) => clockTime(action.creation_time, now) },
  { name: 'Longest write stop', number: true, wraps: true, cell: longestStop },
]

interface ActionTableProps {
  readonly rows: readonly Action[]
  readonly databases: readonly Database[]
}

/** All actions, the newest first. The server makes the pages. */
export function Actions() {
  const [status, setStatus] = useQueryState('status')
  const { first, go } = usePage(SIZE)
  // Any text of the address: the server refuses unknown ones.
  const chosen = status !== '' && { status: status as Action['status'] }
  const actions = useActions({ limit: SIZE, offset: first, ...chosen })
  const databases = useDatabases({ limit: 1_000, fields: 'uid,name' })
  // Waits for the names, which would move the columns.
  const isWhole = databases.data !== undefined || databases.error !== null
  return (
    <Page title="Actions">
      <search className="filters">
        <select aria-label="Status" value={status} onChange={(event) => setStatus(event.target.value)}>
          <option value="">Any status</option>
          {statuses.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </search>
      <Answer of={isWhole ? actions : { ...actions, data: undefined }} height={400}>
        {(rows) => (
          <>
            {rows.length === 0 ? (
              <Empty title={status === '' ? 'No action yet' : 'No action is like this'}>
                Upgrades and other changes are listed here.
              </Empty>
            ) : (
              <ActionTable rows={rows} databases={databases.data ?? []} />
            )}
            <Pager first={first} count={rows.length} size={SIZE} go={go} />
          </>
        )}
      </Answer>
    </Page>
  )
}

function ActionTable({ rows, databases }: ActionTableProps) {
  return (
    <Table
      label="Actions"
      columns={columnsAt(useNow(), nameIn(databases))}
      keyOf={({ action_uid: uid }) => uid}
      rows={rows}
    />
  )
}

import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useActions, useDatabases } from '../../live/queries.ts'
import { usePage } from '../../live/use-page.ts'
import { useQueryState } from '../../live/use-query-state.ts'
import { Columns } from '../../parts/columns.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { longestStop } from '../../words/certificate-text.ts'
import { headlineOf, markOf, whatItDoes } from '../../words/describe-action.ts'
import { clockTime } from '../../words/format.ts'
import { nameIn } from '../overview/names.ts'

const SIZE = 100
const statuses: readonly Action['status'][] = ['active', 'pending', 'completed', 'failed']
const columns = [
  ...[{ name: 'Database' }, { name: 'What' }, { name: 'Where it is' }, { name: 'By' }, { name: 'Begun' }],
  { name: 'Longest write stop', number: true },
]

interface ActionTableProps {
  readonly rows: readonly Action[]
  readonly databases: readonly Database[]
}

/** Everything that was begun, the newest first. The server makes the pages. */
export function Actions() {
  const [status, setStatus] = useQueryState('status')
  const { first, go } = usePage(SIZE)
  // The address may hold anything: the server refuses what it does not know.
  const chosen = status !== '' && { status: status as Action['status'] }
  const actions = useActions({ limit: SIZE, offset: first, ...chosen })
  const databases = useDatabases({ limit: 1_000, fields: 'uid,name' })
  // Names that came later would move the columns.
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
  const nameOf = nameIn(databases)
  const now = useNow()
  return (
    <TableBox label="Actions">
      <table className="table">
        <Columns of={columns} />
        <tbody>
          {rows.map((action) => (
            <tr key={action.action_uid}>
              <th scope="row">
                <Link href={`/actions/${action.action_uid}`}>{nameOf(action)}</Link>
              </th>
              <td>{whatItDoes(action)}</td>
              <td>
                <MarkView mark={{ ...markOf(action), label: headlineOf(action) }} />
              </td>
              <td>{action.requested_by ?? ''}</td>
              <td>{clockTime(action.creation_time, now)}</td>
              <td className="number">{longestStop(action)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

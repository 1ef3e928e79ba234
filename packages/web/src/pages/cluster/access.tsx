import type { Role, User } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { useRoles, useUsers } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import type { Mark } from '../../words/describe-action.ts'
import { ago, clockTime } from '../../words/format.ts'

const columns = [
  ...[
    { name: 'User' },
    { name: 'Status' },
    { name: 'Roles' },
    { name: 'Last sign-in' },
    { name: 'Password since' },
  ],
]
/** How a user is. */
export const userMarks: Readonly<Record<User['status'], Mark>> = {
  active: { sign: 'active', tone: 'ok', label: 'active' },
  locked: { sign: 'stuck', tone: 'wait', label: 'locked' },
  password_expired: { sign: 'waits', tone: 'wait', label: 'password expired' },
  disabled: { sign: 'queued', tone: 'quiet', label: 'disabled' },
}

/** The users, and what their roles give. */
export function Access() {
  const users = useUsers()
  const may = useMay()
  const maySeeRoles = may('view_all_roles_info')
  const roles = useRoles(maySeeRoles).data ?? []
  const links = (
    <>
      {maySeeRoles && (
        <Link href="/access/roles" className="button">
          Roles
        </Link>
      )}
      {may('create_new_user') && (
        <Link href="/access/new" className="button button-main">
          New user
        </Link>
      )}
    </>
  )
  return (
    <Page title="Access" actions={links}>
      <Answer of={users} height={200}>
        {(all) => (
          <TableBox label="Users">
            <table className="table">
              <Columns of={columns} />
              <tbody>
                {all.map((user) => (
                  <UserRow key={user.uid} user={user} roles={roles} />
                ))}
              </tbody>
            </table>
          </TableBox>
        )}
      </Answer>
    </Page>
  )
}

function UserRow({ user, roles }: { readonly user: User; readonly roles: readonly Role[] }) {
  const now = useNow()
  const mine = roles.filter(({ uid }) => user.role_uids.includes(uid)).map(sayRole)
  return (
    <tr>
      <th scope="row" title={user.name}>
        <Link href={`/access/${user.uid}`}>{user.name}</Link>
      </th>
      <td>
        <MarkView mark={userMarks[user.status]} />
      </td>
      <td>{mine.length === 0 ? user.role : mine.join(', ')}</td>
      <td>{user.last_login === undefined ? 'never' : ago(user.last_login * 1_000, now)}</td>
      <td>{clockTime(user.password_issue_date, now)}</td>
    </tr>
  )
}

function sayRole({ name, resources: [limit] }: Role): string {
  return limit === undefined ? name : `${name} (databases ${limit.uids.join(', ')})`
}

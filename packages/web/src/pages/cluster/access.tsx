import type { Role, User } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { useRoles, useUsers } from '../../live/queries.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import type { Mark } from '../../words/describe-action.ts'
import { ago, clockTime, fullTime } from '../../words/format.ts'

/** Signs of a user's state. */
export const userMarks: Readonly<Record<User['status'], Mark>> = {
  active: { sign: 'active', tone: 'ok', label: 'active' },
  locked: { sign: 'stuck', tone: 'wait', label: 'locked' },
  password_expired: { sign: 'waits', tone: 'wait', label: 'password expired' },
  disabled: { sign: 'queued', tone: 'quiet', label: 'disabled' },
}

const columnsAt = (now: number, roles: readonly Role[]): readonly Column<User>[] => [
  {
    name: 'User',
    cell: ({ uid, name }) => <Link href={`/access/${uid}`}>{name}</Link>,
    title: ({ name }) => name,
  },
  { name: 'Status', cell: ({ status }) => <MarkView mark={userMarks[status]} /> },
  { name: 'Roles', wraps: true, cell: (user) => rolesOf(user, roles) },
  {
    name: 'Last sign-in',
    cell: ({ last_login: last }) => (last === undefined ? 'never' : ago(last * 1_000, now)),
  },
  {
    name: 'Password since',
    title: (user) => fullTime(user.password_issue_date),
    cell: (user) => clockTime(user.password_issue_date, now),
  },
]

/** The users and the rights of their roles. */
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
      {may('create_new_user') && <ButtonLink to="/access/new">New user</ButtonLink>}
    </>
  )
  return (
    <Page title="Access" actions={links}>
      <Answer of={users} height={200}>
        {(all) => <UserTable users={all} roles={roles} />}
      </Answer>
    </Page>
  )
}

function UserTable(props: { readonly users: readonly User[]; readonly roles: readonly Role[] }) {
  const { users, roles } = props
  return <Table label="Users" columns={columnsAt(useNow(), roles)} keyOf={({ uid }) => uid} rows={users} />
}

function rolesOf(user: User, roles: readonly Role[]): string {
  const mine = roles.filter(({ uid }) => user.role_uids.includes(uid)).map(sayRole)
  return mine.length === 0 ? user.role : mine.join(', ')
}

function sayRole({ name, resources: [limit] }: Role): string {
  return limit === undefined ? name : `${name} (databases ${limit.uids.join(', ')})`
}

import { managements, type Role } from '@fairlead/api'
import { Fragment } from 'react'
import { usePermissions, useRoles } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'

const columns = [{ name: 'Role' }, { name: 'Management' }, { name: 'Databases' }]

/** The roles, and what each management may do. Roles are changed with the command line. */
export function Roles() {
  const roles = useRoles()
  const permissions = usePermissions()
  return (
    <Page title="Roles" above={{ to: '/access', label: 'Access' }}>
      <div className="stack">
        <Card title="Roles">
          <Answer of={roles} height={240}>
            {(all) => <RoleTable roles={all} />}
          </Answer>
          <p className="muted">
            Roles are created and changed with <code>fairlead roles</code>.
          </p>
        </Card>
        <Card title="What each management may do">
          <Answer of={permissions} height={600}>
            {(all) => <Matrix of={all} />}
          </Answer>
        </Card>
      </div>
    </Page>
  )
}

function RoleTable({ roles }: { readonly roles: readonly Role[] }) {
  return (
    <TableBox label="Roles">
      <table className="table table-compact">
        <Columns of={columns} />
        <tbody>
          {roles.map(({ uid, name, management, resources: [limit] }) => (
            <tr key={uid}>
              <th scope="row">{name}</th>
              <td>{management}</td>
              <td>{limit === undefined ? 'all' : limit.uids.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

/** A line for each permission, the same for all managements that have it. */
function Matrix({
  of,
}: {
  readonly of: Readonly<Record<string, { readonly api_permissions: readonly string[] }>>
}) {
  const names = managements.filter((one) => one in of)
  const all = [...new Set(names.flatMap((one) => of[one]?.api_permissions ?? []))].toSorted()
  return (
    <TableBox label="What each management may do">
      <table className="table table-compact matrix">
        <Columns of={[{ name: 'Permission' }, ...names.map((name) => ({ name }))]} />
        <tbody>
          {all.map((permission) => (
            <tr key={permission}>
              <th scope="row" className="mono">
                <Breakable name={permission} />
              </th>
              {names.map((name) => (
                <td key={name}>{of[name]?.api_permissions.includes(permission) && <May />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

/** A name that may go on in another line after a part of it. */
function Breakable({ name }: { readonly name: string }) {
  const [first, ...others] = name.split('_')
  return (
    <>
      {first}
      {others.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name keep their places
        <Fragment key={place}>
          _<wbr />
          {part}
        </Fragment>
      ))}
    </>
  )
}

function May() {
  return (
    <span data-tone="ok">
      <Glyph name="done" />
      <span className="visually-hidden">may</span>
    </span>
  )
}

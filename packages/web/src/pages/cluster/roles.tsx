import { managements, type Role } from '@fairlead/api'
import { Fragment } from 'react'
import { usePermissions, useRoles } from '../../live/queries.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'

const columns: readonly Column<Role>[] = [
  { name: 'Role', cell: ({ name }) => name, title: ({ name }) => name },
  { name: 'Management', cell: ({ management }) => management },
  {
    name: 'Databases',
    wraps: true,
    cell: ({ resources: [limit] }) => (limit === undefined ? 'all' : limit.uids.join(', ')),
  },
]

/** The roles and each management's permissions. The command line changes roles. */
export function Roles() {
  const roles = useRoles()
  const permissions = usePermissions()
  return (
    <Page title="Roles" above={{ to: '/access', label: 'Access' }}>
      <div className="stack">
        <Card title="Roles">
          <Answer of={roles} height={240}>
            {(all) => <Table label="Roles" as="card" columns={columns} keyOf={({ uid }) => uid} rows={all} />}
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

/** One line per permission, with all managements that have it. */
function Matrix({
  of,
}: {
  readonly of: Readonly<Record<string, { readonly api_permissions: readonly string[] }>>
}) {
  const names = managements.filter((one) => one in of)
  const all = [...new Set(names.flatMap((one) => of[one]?.api_permissions ?? []))].toSorted()
  const columns: readonly Column<string>[] = [
    { name: 'Permission', mono: true, cell: (permission) => <Breakable name={permission} /> },
    ...names.map((name) => ({
      name,
      cell: (permission: string) => of[name]?.api_permissions.includes(permission) && <May />,
    })),
  ]
  return (
    <Table
      label="What each management may do"
      as="matrix"
      columns={columns}
      keyOf={(permission) => permission}
      rows={all}
    />
  )
}

/** A name that may break after each part. */
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

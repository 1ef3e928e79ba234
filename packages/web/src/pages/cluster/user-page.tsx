import { managements, type User } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay, useMe } from '../../live/permissions.ts'
import { useRoles, useSettings, useUsers } from '../../live/queries.ts'
import { useOrder } from '../../live/use-order.ts'
import { DeleteButton } from '../../parts/dialog.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer, Empty, Problem } from '../../parts/problem.tsx'
import { passwordRule, SHORTEST } from '../../words/password-rule.ts'
import { userMarks } from './access.tsx'

const above = { to: '/access', label: 'Access' }

/** The form for a new user. */
export function NewUser() {
  const [, go] = useLocation()
  const change = useUserChange((form) =>
    api.createUser({ body: { name: form.name, password: form.password, ...roleOf(form.role) } }),
  )
  return (
    <Page title="New user" above={above}>
      <Card className="form-card">
        <UserForm user={null} verb="Create" change={change} onDone={() => go('/access')} />
      </Card>
    </Page>
  )
}

/** A user, editable with permission. */
export function UserPage({ uid }: { readonly uid: number }) {
  const users = useUsers()
  if (users.data === undefined)
    return (
      <Page title="User" above={above}>
        <Answer of={users} height={300}>
          {() => null}
        </Answer>
      </Page>
    )
  const user = users.data.find((one) => one.uid === uid)
  if (user !== undefined) return <OneUser user={user} />
  return (
    <Page title="No such user" above={above}>
      <Empty title="There is no user with this number" />
    </Page>
  )
}

function OneUser({ user }: { readonly user: User }) {
  const may = useMay()
  const { uid } = user
  const change = useUserChange(({ name, password, role, disabled }) =>
    api.updateUser({
      params: { uid },
      body: {
        ...(name !== user.name && { name }),
        ...(password !== '' && { password }),
        ...(role !== nowOf(user) && roleOf(role)),
        ...(disabled !== (user.status === 'disabled') && { disabled }),
      },
    }),
  )
  return (
    <Page title={user.name} above={above} beside={<MarkView mark={userMarks[user.status]} />}>
      <div className="stack form-card">
        <Card>
          {may('update_user') ? (
            <UserForm user={user} verb="Change" change={change} />
          ) : (
            <p className="muted">Changing a user needs the permission update_user.</p>
          )}
        </Card>
        {may('delete_user') && <Deletion user={user} />}
      </div>
    </Page>
  )
}

interface UserForm {
  readonly name: string
  readonly password: string
  /** "role:3", or a management like "db_viewer". */
  readonly role: string
  readonly disabled: boolean
}

function useUserChange(send: (form: UserForm) => Promise<unknown>) {
  const client = useQueryClient()
  return useOrder({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: keys.users }) })
}

function UserForm(props: {
  readonly user: User | null
  readonly verb: string
  readonly change: ReturnType<typeof useUserChange>
  readonly onDone?: () => void
}) {
  const { user, verb, change, onDone } = props
  const isStale = useIsStale()
  const isOwn = useMe().uid === user?.uid
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    change.mutate(readForm(form), {
      onSuccess: () => {
        for (const field of form.querySelectorAll<HTMLInputElement>('[type=password]')) field.value = ''
        onDone?.()
      },
    })
  }
  return (
    <form className="form" onSubmit={submit} autoComplete="off">
      <label>
        Name
        <input name="name" required maxLength={256} defaultValue={user?.name} autoComplete="off" />
      </label>
      <RoleChoice user={user} />
      <PasswordField isNew={user === null} />
      {user !== null && !isOwn && <DisabledField user={user} />}
      {change.error !== null && <Problem error={change.error} />}
      <div>
        <button type="submit" className="button button-main" disabled={change.isPending || isStale}>
          {verb}
        </button>{' '}
        {change.isSuccess && <span role="status">Changed</span>}
      </div>
    </form>
  )
}

function readForm(form: HTMLFormElement): UserForm {
  const data = new FormData(form)
  const read = (field: string) => String(data.get(field) ?? '')
  const disabled = data.has('disabled')
  return { name: read('name'), password: read('password'), role: read('role'), disabled }
}

function DisabledField({ user }: { readonly user: User }) {
  return (
    <label className="check">
      <input name="disabled" type="checkbox" defaultChecked={user.status === 'disabled'} /> Disabled: cannot
      sign in
    </label>
  )
}

function PasswordField({ isNew }: { readonly isNew: boolean }) {
  const may = useMay()('view_cluster_info')
  const rules = useSettings(may)
  // Empty until they have arrived: otherwise the text would change while it is read.
  const rule = may && rules.isPending ? '' : passwordRule(rules.data ?? null)
  return (
    <div className="field">
      <label>
        {isNew ? 'Password' : 'New password, if it is to change'}
        <input
          name="password"
          type="password"
          autoComplete="new-password"
          required={isNew}
          minLength={rules.data?.password_min_length ?? SHORTEST}
          aria-describedby="password-rule"
        />
      </label>
      <p id="password-rule" className="hint">
        {rule}
      </p>
    </div>
  )
}

/** The user's present value is always a selected choice: an unchanged form must change nothing. */
function RoleChoice({ user }: { readonly user: User | null }) {
  const maySee = useMay()('view_all_roles_info')
  const roles = useRoles(maySee)
  const known = roles.data?.map(({ uid, name }) => [`role:${uid}`, name] as const)
  const all = known ?? managements.map((one) => [one, one] as const)
  const viewer = known?.find(([, name]) => name === 'DB Viewer')?.[0] ?? 'db_viewer'
  const now = user === null ? viewer : nowOf(user)
  const own = all.some(([value]) => value === now) ? [] : ([[now, 'as it is now']] as const)
  return (
    <label>
      Role
      {/* A new element once the roles have arrived, because a default is read only once. */}
      <select key={known === undefined ? 'unknown' : 'known'} name="role" defaultValue={now}>
        {[...own, ...all].map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The form's value for the roles of a user. */
function nowOf({ role_uids: uids, role }: User): string {
  if (uids.length > 1) return 'several'
  return uids[0] === undefined ? role : `role:${uids[0]}`
}

function roleOf(chosen: string) {
  const uid = /^role:(\d+)$/.exec(chosen)?.[1]
  if (uid !== undefined) return { role_uids: [Number(uid)] }
  const role = managements.find((one) => one === chosen)
  return role === undefined ? {} : { role }
}

function Deletion({ user }: { readonly user: User }) {
  const [, go] = useLocation()
  const client = useQueryClient()
  const remove = useOrder({
    mutationFn: () => api.deleteUser({ params: { uid: user.uid } }),
    onSuccess: () => go('/access'),
    onSettled: () => client.invalidateQueries({ queryKey: keys.users }),
  })
  return (
    <Card title="Delete">
      <p className="muted above-button">
        Its sessions and tokens end at once. What it did stays in the audit.
      </p>
      <DeleteButton name={user.name} label="Delete this user…" remove={remove}>
        <p>There is no way to get it back, but a new user may have the same name.</p>
      </DeleteButton>
    </Card>
  )
}

import { isDeepStrictEqual } from 'node:util'
import {
  addPassword,
  type Body,
  createUser,
  deleteUser,
  getOwnRole,
  getSelf,
  getUser,
  listPermissions,
  listPermissionsOfRole,
  listUsers,
  type Management,
  managements,
  permissionsOf,
  Refusal,
  removePassword,
  type Self,
  setPassword,
  type User as UserAnswer,
  updateUser,
} from '@fairlead/api'
import { type Caller, operatorPrincipal, permissionsHeld } from '../../core/identity/access.ts'
import { type Alerts, usualAlerts } from '../../core/identity/user.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import type { Passwords, PasswordsLeft } from '../../identity/passwords/passwords-service.ts'
import type { Roles } from '../../identity/roles/roles-service.ts'
import type { UserRequest, Users, UserView } from '../../identity/users/users-service.ts'

const pages = listPages<'uid' | 'name', UserView>({
  list: 'users',
  sorts: { uid: 'number', name: 'text' },
  usual: 'uid',
  placeOf: ({ user }, by) => ({ value: user[by], uid: user.uid }),
})

/** Serves /v1/users and the managements' permissions. */
export function usersRoutes(mount: Mount, users: Users, roles: Roles): void {
  mount(listUsers, async ({ query }) => {
    const { q, status } = query
    const { entries, next } = pages.answer(await users.list({ ...pages.read(query), q, status }), query)
    return { entries: entries.map(toWire), next }
  })

  mount(getSelf, async (_, caller) => {
    if (caller.user.uid === operatorPrincipal.uid)
      throw new Refusal('user_not_exist', 'this is the token of the operator, who is no user of the cluster')
    return selfToWire(await users.get(caller.user.uid), caller)
  })

  mount(getUser, async ({ params }) => toWire(await users.get(params.uid)))

  mount(createUser, async ({ body }, caller) => {
    const name = body.name ?? body.email
    if (name === undefined)
      throw new Refusal('invalid_request', 'name: is missing, and email too; give one of them')
    const roleUids = (await readRoles(body, roles)) ?? [await roles.builtIn('db_viewer')]
    const alerts = { ...usualAlerts, ...readAlerts(body) }
    const request = { name, email: body.email ?? null, roleUids, password: body.password, alerts }
    return toWire(await users.create(request, caller))
  })

  mount(updateUser, async ({ params, body: sent }, caller) => {
    const body = await changesIn(sent, async () => toWire(await users.get(params.uid)))
    const roleUids = await readRoles(body, roles)
    const alerts = readAlerts(body)
    const request: UserRequest = {
      ...(Object.keys(alerts).length > 0 && { alerts }),
      ...(body.name !== undefined && { name: body.name }),
      ...(body.email !== undefined && { email: body.email }),
      ...(body.password !== undefined && { password: body.password }),
      ...(body.old_password !== undefined && { oldPassword: body.old_password }),
      ...(body.disabled !== undefined && { disabled: body.disabled }),
      ...(roleUids !== undefined && { roleUids }),
    }
    return toWire(await users.update(params.uid, request, caller))
  })

  mount(deleteUser, async ({ params }, caller) => {
    await users.remove(params.uid, caller)
    return { uid: params.uid }
  })

  mount(listPermissions, async () =>
    Object.fromEntries(managements.map((management) => [management, describe(management)])),
  )
  mount(listPermissionsOfRole, async ({ params: { role } }) => ({ [role]: describe(role) }))

  mount(getOwnRole, async (_, { user }) => ({
    role: strongest(user.grants.map(({ management }) => management)),
  }))
}

/**
 * Returns the really changed fields: programs send back everything that they read. `role` is the strongest of
 * `role_uids`; if only one of the two changed, the other is ignored.
 */
async function changesIn(
  { uid, status, password_issue_date, last_login: _, ...sent }: Body<typeof updateUser>,
  show: () => Promise<UserAnswer>,
): Promise<Change> {
  const settled = Object.entries({ uid, status, password_issue_date }).filter(
    ([, value]) => value !== undefined,
  )
  const has = await show()
  refuseOthers(Object.fromEntries(settled), has, 'disabled keeps a user out, and a new password unlocks it')
  const values: Readonly<Record<string, unknown>> = has
  const changes = Object.entries(sent).filter(([name, value]) => !isSame(value, values[name]))
  return Object.fromEntries(changes)
}

/** Compares uids without their order. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return isDeepStrictEqual(one, other)
  return isDeepStrictEqual(new Set(one), new Set(other))
}

/** Changeable fields of a user. */
type Change = Omit<Body<typeof updateUser>, 'uid' | 'status' | 'password_issue_date' | 'last_login'>

function readAlerts(body: Change): Partial<Alerts> {
  const { email_alerts: email, cluster_email_alerts: cluster, bdbs_email_alerts: databases } = body
  return {
    ...(email !== undefined && { email }),
    ...(cluster !== undefined && { cluster }),
    ...(databases !== undefined && { databases }),
  }
}

function describe(management: Management) {
  return { api_permissions: [...permissionsOf(management)], ui_permissions: [] }
}

/** `role` is the older name for a management's built-in role. If both are sent, they must agree. */
async function readRoles(
  { role, role_uids }: Pick<Change, 'role' | 'role_uids'>,
  roles: Roles,
): Promise<readonly number[] | undefined> {
  if (role === undefined) return role_uids
  const uid = await roles.builtIn(role)
  if (role_uids !== undefined && role_uids.join() !== String(uid)) {
    throw new Refusal(
      'conflicting_fields',
      `role and role_uids: role ${role} is role_uids [${uid}]; give one of them`,
    )
  }
  return [uid]
}

function strongest(held: readonly Management[]): Management {
  return managements.find((management) => held.includes(management)) ?? 'none'
}

function toWire({ user, roles, status, newestPasswordMs }: UserView): UserAnswer {
  return {
    uid: user.uid,
    name: user.name,
    ...(user.email !== null && { email: user.email }),
    role: strongest(roles.map(({ management }) => management)),
    role_uids: [...user.roleUids],
    auth_method: 'regular',
    status,
    password_issue_date: new Date(newestPasswordMs).toISOString(),
    email_alerts: user.alerts.email,
    cluster_email_alerts: user.alerts.cluster,
    bdbs_email_alerts: [...user.alerts.databases],
    ...(user.lastLoginMs !== null && { last_login: Math.floor(user.lastLoginMs / 1000) }),
  }
}

function selfToWire(view: UserView, { user, token }: Caller): Self {
  const { all, limited } = permissionsHeld(user)
  return {
    ...toWire(view),
    permissions: [...all],
    resources: limited.map(({ databases, permissions }) => ({
      type: 'db',
      uids: databases.map(String),
      permissions: [...permissions],
    })),
    signed_in_by: token === null ? 'password' : token.isSession ? 'session' : 'token',
    token_expires: token === null ? null : new Date(token.expiresAtMs).toISOString(),
    password_expires: view.passwordExpiresMs === null ? null : new Date(view.passwordExpiresMs).toISOString(),
  }
}

/** Serves /v1/users/password, also with an expired password. */
export function passwordsRoutes(mount: Mount, passwords: Passwords): void {
  mount(setPassword, async ({ body }, caller) =>
    leftToWire(await passwords.set(passwordFromWire(body), caller)),
  )

  mount(addPassword, async ({ body }, caller) =>
    leftToWire(await passwords.add(passwordFromWire(body), caller)),
  )

  mount(removePassword, async ({ body }, caller) =>
    leftToWire(await passwords.remove({ userName: body.username, password: body.old_password }, caller)),
  )
}

function passwordFromWire({ username, new_password, old_password }: Body<typeof setPassword>) {
  return { userName: username, password: new_password, oldPassword: old_password }
}

function leftToWire({ userName, passwords }: PasswordsLeft) {
  return { username: userName, passwords }
}

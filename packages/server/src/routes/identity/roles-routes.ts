import {
  createRole,
  deleteRole,
  getRole,
  listRoles,
  type Role as RoleAnswer,
  updateRole,
} from '@fairlead/api'
import type { Role } from '../../core/identity/user.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import type { Roles } from '../../identity/roles/roles-service.ts'

const pages = listPages<'uid' | 'name', Role>({
  list: 'roles',
  sorts: { uid: 'number', name: 'text' },
  usual: 'uid',
  placeOf: (role, by) => ({ value: role[by], uid: role.uid }),
})

/** Serves /v1/roles. */
export function rolesRoutes(mount: Mount, roles: Roles): void {
  mount(listRoles, async ({ query }) => {
    const { q, management } = query
    const { entries, next } = pages.answer(await roles.list({ ...pages.read(query), q, management }), query)
    return { entries: entries.map(toWire), next }
  })

  mount(getRole, async ({ params }) => toWire(await roles.get(params.uid)))

  mount(createRole, async ({ body: { name, management, resources } }, caller) =>
    toWire(await roles.create({ name, management, databases: databasesOf(resources ?? []) }, caller)),
  )

  mount(updateRole, async ({ params, body: { name, management, resources, ...settled } }, caller) => {
    refuseOthers(settled, { uid: params.uid }, 'another role is created with POST /v1/roles')
    const change = {
      ...(name !== undefined && { name }),
      ...(management !== undefined && { management }),
      ...(resources !== undefined && { databases: databasesOf(resources) }),
    }
    return toWire(await roles.update(params.uid, change, caller))
  })

  mount(deleteRole, async ({ params }, caller) => {
    await roles.remove(params.uid, caller)
    return { uid: params.uid }
  })
}

function databasesOf(resources: RoleAnswer['resources']): readonly number[] {
  return [...new Set(resources.flatMap(({ uids }) => uids.map(Number)))]
}

function toWire({ uid, name, management, databases }: Role): RoleAnswer {
  return {
    uid,
    name,
    management,
    resources: databases.length > 0 ? [{ type: 'db', uids: databases.map(String) }] : [],
  }
}

import { authorizeUser } from '@fairlead/api'
import type { Mount } from '../http/mount.ts'
import type { Users } from './users-service.ts'

export function usersRoutes(mount: Mount, users: Users): void {
  mount(authorizeUser, async ({ body }) => ({
    access_token: await users.authorize({ name: body.username, password: body.password }, body.ttl ?? 300),
  }))
}

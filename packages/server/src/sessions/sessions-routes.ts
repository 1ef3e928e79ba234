import { authorizeUser, getJwks, logOut, refreshToken } from '@fairlead/api'
import type { Mount } from '../http/mount.ts'
import type { Sessions } from './sessions-service.ts'
import type { SigningKeys } from './signing-keys.ts'

const TTL_SECONDS = 300

/** Serves signing in, renewing and ending tokens, and the public keys that verify them (RFC 7517). */
export function sessionsRoutes(mount: Mount, sessions: Sessions, keys: SigningKeys): void {
  mount(authorizeUser, async ({ body: { username, password, ttl } }, requester) => ({
    access_token: await sessions.authorize({ name: username, password }, ttl ?? TTL_SECONDS, requester),
  }))

  mount(refreshToken, async ({ body }, caller) => ({
    access_token: await sessions.refresh(caller, body.ttl ?? TTL_SECONDS),
  }))

  mount(logOut, async (_, caller) => {
    await sessions.logOut(caller)
    return { logged_out: true as const }
  })

  mount(getJwks, async () => ({ keys: [...keys.published()] }))
}

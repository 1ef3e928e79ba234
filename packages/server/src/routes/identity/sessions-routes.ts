import { authorizeUser, beginSession, endSession, getJwks, logOut, refreshToken } from '@fairlead/api'
import type { Mount } from '../../http/mount.ts'
import { type BrowserSessions, IDLE_MS } from '../../identity/sessions/browser-sessions.ts'
import type { Sessions } from '../../identity/sessions/sessions-service.ts'
import type { SigningKeys } from '../../identity/sessions/signing-keys.ts'

const TTL_SECONDS = 300

/** Serves sign-in, renewal and end of tokens and sessions, and their public keys (RFC 7517). */
export function sessionsRoutes(
  mount: Mount,
  sessions: Sessions,
  ofBrowsers: BrowserSessions,
  keys: SigningKeys,
): void {
  mount(authorizeUser, async ({ body: { username, password, ttl } }, requester) => ({
    access_token: await sessions.authorize({ name: username, password }, ttl ?? TTL_SECONDS, requester),
  }))

  mount(refreshToken, async ({ body }, caller) => ({
    access_token: await sessions.refresh(caller, body.ttl ?? TTL_SECONDS),
  }))

  mount(logOut, async (_, caller) => {
    await (caller.token?.isSession ? ofBrowsers : sessions).end(caller)
    return { logged_out: true as const }
  })

  mount(beginSession, async ({ body: { username, password } }, requester) => {
    const { secret, endsMs } = await ofBrowsers.begin({ name: username, password }, requester)
    const answer = { expires: new Date(endsMs).toISOString(), idle_seconds: IDLE_MS / 1000 }
    return { answer, cookie: secret }
  })

  mount(endSession, async (_, caller) => {
    await ofBrowsers.end(caller)
    return { answer: { ended: true as const }, cookie: null }
  })

  mount(getJwks, async () => ({ keys: [...keys.published()] }))
}

import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import { actorOf, type Caller, type Requester } from '../../core/identity/access.ts'
import { isExpired } from '../../core/identity/password-rules.ts'
import type { Store } from '../../store/open-store.ts'
import type { AuditCounter } from '../audit/audit-counter.ts'
import { type BrowserSession, browserSessionsStore } from '../stores/browser-sessions-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import { createExpiringCache } from './expiring-cache.ts'
import type { Identities } from './identities.ts'
import type { Login, Logins } from './logins.ts'
import type { Claims } from './tokens.ts'

/** An unused session ends after 15 minutes, as in consoles of the wider API. */
export const IDLE_MS = 15 * 60_000
/** A use is written at most once per minute. */
const NOTED_EVERY_MS = 60_000
/** A session that another server ended is refused here after this time. */
const REMEMBERED_MS = 1_000
const MOST_REMEMBERED = 10_000
/** Clocks of several servers may differ, so ended sessions are kept for a day. */
const KEPT_MS = 24 * 60 * 60_000

/** Sessions of browsers, in the store: every server of the cluster knows them, and they survive a restart. */
export type BrowserSessions = ReturnType<typeof createBrowserSessions>

/** Even a used session ends after `sessionMs`. `counter` records begin and end. `now`: Unix milliseconds. */
export function createBrowserSessions(deps: {
  readonly store: Store
  readonly logins: Pick<Logins, 'check'>
  readonly identities: Pick<Identities, 'get'>
  readonly counter: Pick<AuditCounter, 'transaction'>
  readonly now: () => number
  readonly sessionMs: number
}) {
  const { store, logins, identities, counter, now, sessionMs } = deps
  const sessions = browserSessionsStore(store.db)
  const known = createExpiringCache<string, BrowserSession | undefined>({
    forMs: REMEMBERED_MS,
    most: MOST_REMEMBERED,
    now,
  })
  const read = async (id: string): Promise<BrowserSession | undefined> => {
    const session = await sessions.get(id)
    if (session === undefined || now() >= endOf(session, sessionMs)) return undefined
    // After a clock was set back, an earlier use must not be written.
    if (now() < session.usedMs + NOTED_EVERY_MS) return session
    if (await hasExpired(session.userUid)) return undefined
    await sessions.noteUse(id, now())
    return { ...session, usedMs: now() }
  }
  /** Checks the age of the user's password: after it has expired, tokens are not renewed either. */
  const hasExpired = async (userUid: number): Promise<boolean> => {
    const identity = await identities.get(userUid)
    const { passwordDays } = await settingsStore(store.db).get()
    return identity === undefined || isExpired(identity.newestPasswordMs, passwordDays, now())
  }
  const claimsOf = (session: BrowserSession | undefined): Claims | undefined => {
    if (session === undefined || now() >= endOf(session, sessionMs)) return undefined
    const { id, userUid, epoch, signedInMs } = session
    return { id, userUid, epoch, signedInMs, expiresAtMs: endOf(session, sessionMs), isSession: true }
  }

  return {
    /** Returns the secret for the cookie, and the end in Unix milliseconds. Throws Refusal as Logins does. */
    async begin(login: Login, by: Requester): Promise<{ readonly secret: string; readonly endsMs: number }> {
      const { user } = await logins.check(login, { ...by, via: 'session' })
      const [secret, atMs] = [randomBytes(32).toString('base64url'), now()]
      await sessions.removeUnused(atMs - IDLE_MS - KEPT_MS)
      const { uid: userUid, tokenEpoch: epoch } = user
      await sessions.insert({ id: idOf(secret), userUid, epoch, signedInMs: atMs, usedMs: atMs })
      return { secret, endsMs: atMs + sessionMs }
    },
    /** Returns the remembered claims of a session without waiting; undefined if there are none. */
    recall: (secret: string) => claimsOf(known.recall(idOf(secret))),
    /** Returns the claims of a session and renews it; undefined if it does not exist or has ended. */
    async find(secret: string): Promise<Claims | undefined> {
      const id = idOf(secret)
      return claimsOf(await known.get(id, () => read(id)))
    },
    /** Ends the caller's session. Throws Refusal invalid_request if the request had none. */
    async end(caller: Caller): Promise<void> {
      const { token } = caller
      if (token?.isSession !== true)
        throw new Refusal(
          'invalid_request',
          'Cookie: there is no session to end; the request came without one',
        )
      await counter.transaction(async (db, note) => {
        await browserSessionsStore(db).remove(token.id)
        await note({ type: 'logged_out', by: actorOf(caller) })
      })
      known.forget(token.id)
    },
  }
}

function endOf({ usedMs, signedInMs }: BrowserSession, sessionMs: number): number {
  return Math.min(usedMs + IDLE_MS, signedInMs + sessionMs)
}

/** A cookie cannot be made from a copy of the store. The secret has 256 bits, so it needs no salt. */
function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

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

/** A session ends when it has not been used for so long: as consoles of the wider API have it. */
export const IDLE_MS = 15 * 60_000
/** A use is written down at most so often. */
const NOTED_EVERY_MS = 60_000
/** What another server has ended is seen here after so long. */
const REMEMBERED_MS = 1_000
const MOST_REMEMBERED = 10_000
/** Clocks of several servers may differ: sessions that have ended are kept a little. */
const KEPT_MS = 24 * 60 * 60_000

/** Sessions of browsers, which are in the store: any server of the cluster knows them, and a restart ends none. */
export interface BrowserSessions {
  /** `secret` is what the cookie says; Unix milliseconds. Throws Refusal as Logins does. */
  begin(login: Login, by: Requester): Promise<{ readonly secret: string; readonly endsMs: number }>
  /** What a session that was found a moment ago says, at once; undefined when it was not. */
  recall(secret: string): Claims | undefined
  /** What the session says; undefined when there is none, or none any more. Its use is noted, which renews it. */
  find(secret: string): Promise<Claims | undefined>
  /** Ends the caller's session. Throws Refusal invalid_request when the request came without one. */
  end(caller: Caller): Promise<void>
}

/** A session lasts `sessionMs` at most, however much it is used. `counter` records its begin and its end; `now` is Unix milliseconds. */
export function createBrowserSessions(deps: {
  readonly store: Store
  readonly logins: Pick<Logins, 'check'>
  readonly identities: Pick<Identities, 'get'>
  readonly counter: Pick<AuditCounter, 'transaction'>
  readonly now: () => number
  readonly sessionMs: number
}): BrowserSessions {
  const { store, logins, identities, counter, now, sessionMs } = deps
  const sessions = browserSessionsStore(store.db)
  const known = createExpiringCache<string, BrowserSession | undefined>({
    ...{ forMs: REMEMBERED_MS, most: MOST_REMEMBERED, now },
  })
  const read = async (id: string): Promise<BrowserSession | undefined> => {
    const session = await sessions.get(id)
    if (session === undefined || now() >= endOf(session, sessionMs)) return undefined
    // A clock that was set back must not write an earlier use.
    if (now() < session.usedMs + NOTED_EVERY_MS) return session
    if (await hasExpired(session.userUid)) return undefined
    await sessions.noteUse(id, now())
    return { ...session, usedMs: now() }
  }
  /** The password of the user: a token is not renewed then either. */
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
    async begin(login, by) {
      const { user } = await logins.check(login, { ...by, via: 'session' })
      const [secret, atMs] = [randomBytes(32).toString('base64url'), now()]
      await sessions.removeUnused(atMs - IDLE_MS - KEPT_MS)
      const { uid: userUid, tokenEpoch: epoch } = user
      await sessions.insert({ id: idOf(secret), userUid, epoch, signedInMs: atMs, usedMs: atMs })
      return { secret, endsMs: atMs + sessionMs }
    },
    recall: (secret) => claimsOf(known.recall(idOf(secret))),
    async find(secret) {
      const id = idOf(secret)
      return claimsOf(await known.get(id, () => read(id)))
    },
    async end(caller) {
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

/** A copy of the store makes no cookie. The secret has 256 bits: no salt is needed. */
function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

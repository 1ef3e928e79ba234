import { Refusal } from '@fairlead/api'
import { actorOf, type Caller, operatorPrincipal, type Requester } from '../../core/identity/access.ts'
import { isExpired } from '../../core/identity/password-rules.ts'
import type { Store } from '../../store/open-store.ts'
import type { AuditCounter } from '../audit/audit-counter.ts'
import { revokedTokensStore } from '../stores/revoked-tokens-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import type { Identities } from './identities.ts'
import type { Login, Logins } from './logins.ts'
import type { Tokens } from './tokens.ts'

export type Sessions = ReturnType<typeof createSessions>

/** Issues tokens and ends them. `counter` records logins in the audit; `now` is Unix milliseconds. */
export function createSessions(deps: {
  readonly store: Store
  readonly logins: Logins
  readonly tokens: Tokens
  readonly identities: Identities
  readonly counter: AuditCounter
  readonly now: () => number
}) {
  const { store, logins, tokens, identities, counter, now } = deps
  return {
    /** Issues a token for the user of this login. Throws Refusal as Logins does. */
    async authorize(login: Login, ttlSeconds: number, by: Requester): Promise<string> {
      const { user } = await logins.check(login, { ...by, via: 'authorize' })
      return tokens.issue(user, ttlSeconds, now())
    },

    /**
     * Issues another token for the caller's session. Throws Refusal: password_expired; unauthorized if the
     * user does not exist or the session has ended; invalid_request for the session of a browser.
     */
    async refresh({ user: { uid }, token }: Caller, ttlSeconds: number): Promise<string> {
      // A script of a page must not get a token from the session: the cookie hides the session from scripts.
      if (token?.isSession === true)
        throw new Refusal(
          'invalid_request',
          'a session is renewed by itself while it is used; it gives no token',
        )
      if (uid === operatorPrincipal.uid) refuseOfOperator()
      const identity = await identities.get(uid)
      if (identity === undefined) throw new Refusal('unauthorized')
      const { passwordDays } = await settingsStore(store.db).get()
      if (isExpired(identity.newestPasswordMs, passwordDays, now())) throw new Refusal('password_expired')
      return tokens.issue(identity.user, ttlSeconds, token?.signedInMs ?? now()) // null: a password
    },

    /** Ends the caller's token. Throws Refusal invalid_request if the request came with a password. */
    async end(caller: Caller): Promise<void> {
      const { user, token } = caller
      if (token === null) {
        throw new Refusal(
          'invalid_request',
          'Authorization: there is no token to end; the request came with a password',
        )
      }
      if (user.uid === operatorPrincipal.uid) refuseOfOperator()
      await counter.transaction(async (db, note) => {
        const revoked = revokedTokensStore(db)
        await revoked.removeEnded(new Date(now() - KEPT_MS).toISOString())
        await revoked.insert({
          id: token.id,
          userUid: user.uid,
          expiresAt: new Date(token.expiresAtMs).toISOString(),
        })
        await note({ type: 'logged_out', by: actorOf(caller) })
      })
      identities.forget(user.uid)
    },
  }
}

/** A token of the operator lives for minutes, and the socket issues new ones at any time. */
function refuseOfOperator(): never {
  throw new Refusal(
    'invalid_request',
    'the token of the operator ends by itself; fairlead takes another one from the socket in FAIRLEAD_HOME',
  )
}

/** A revoked token is kept a day after its end: a clock that was ahead and is reset must not restore it. */
const KEPT_MS = 24 * 60 * 60 * 1000

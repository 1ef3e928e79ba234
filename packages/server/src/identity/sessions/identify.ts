import { createHmac, randomBytes } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import type { Caller, Requester } from '../../core/identity/access.ts'
import { isExpired } from '../../core/identity/password-rules.ts'
import type { Settings } from '../../core/identity/settings.ts'
import type { Store } from '../../store/open-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import type { BrowserSessions } from './browser-sessions.ts'
import { createExpiringCache } from './expiring-cache.ts'
import type { Identities, Identity } from './identities.ts'
import type { Login, Logins } from './logins.ts'
import { readBasic, splitScheme } from './read-basic.ts'
import { sourceOf } from './source-of.ts'
import type { Claims, Tokens } from './tokens.ts'

/**
 * Finds the caller of a request with this Authorization header: `Bearer <token>`, `JWT <token>` or `Basic
 * <name:password>`, in any letter case; `Session <secret>` stands for the cookie of a browser's session.
 *
 * Throws Refusal: unauthorized for an invalid token or header; for Basic what Logins throws. Answers
 * synchronously where all is remembered: a promise costs as much as the answer. `admitsExpired`: an expired
 * password will do, and Basic is accepted even where it is switched off.
 */
export type Identify = (
  header: string | undefined,
  requester: Requester,
  options: { readonly admitsExpired: boolean },
) => Caller | Promise<Caller>

/** A password that was right is not derived again for each request, but still after so long. */
const PASSWORD_REMEMBERED_MS = 5 * 60_000
const MOST_PASSWORDS = 1_000
const SETTINGS_REMEMBERED_MS = 1_000

interface RightPassword {
  readonly userUid: number
  readonly epoch: number
  readonly issuedMs: number
}

interface IdentifyDeps {
  readonly store: Store
  readonly tokens: Tokens
  readonly sessions: Pick<BrowserSessions, 'find' | 'recall'>
  readonly identities: Identities
  readonly logins: Logins
  readonly now: () => number
}

/** Remembers settings, tokens and right passwords for a while; `now` is Unix milliseconds. */
export function createIdentify(deps: IdentifyDeps): Identify {
  const { tokens, identities, sessions } = deps
  const byPassword = createByPassword(deps)

  const byToken = async (token: string, requester: Requester): Promise<Caller> => {
    const claims = await tokens.verify(token)
    const identity = claims && (await identities.get(claims.userUid))
    return admit(claims, identity, requester)
  }
  const byKnown = (claims: Claims | undefined, requester: Requester): Caller | undefined => {
    const identity = claims && identities.recall(claims.userUid)
    return identity && admit(claims, identity, requester)
  }
  const bySession = async (secret: string, requester: Requester): Promise<Caller> => {
    const claims = await sessions.find(secret)
    const identity = claims && (await identities.get(claims.userUid))
    if (claims === undefined || identity === undefined || !isGood(claims, identity))
      throw new Refusal('unauthorized', 'the session has ended; sign in again with POST /v1/session')
    return admit(claims, identity, requester)
  }

  return (header, requester, { admitsExpired }) => {
    const { scheme, rest } = splitScheme(header ?? '')
    if (scheme === 'bearer' || scheme === 'jwt')
      return byKnown(tokens.recall(rest), requester) ?? byToken(rest, requester)
    if (scheme === 'session') return byKnown(sessions.recall(rest), requester) ?? bySession(rest, requester)
    const login = scheme === 'basic' ? readBasic(rest) : undefined
    if (login !== undefined) return byPassword(login, requester, admitsExpired)
    throw new Refusal(
      'unauthorized',
      'send a token as `Authorization: Bearer <token>`; get one from POST /v1/users/authorize',
    )
  }
}

type ByPassword = (login: Login, requester: Requester, admitsExpired: boolean) => Promise<Caller>

/**
 * Callers with a name and a password. What was right is remembered, until something about the user changes.
 */
function createByPassword({
  store,
  identities,
  logins,
  now,
}: Omit<IdentifyDeps, 'tokens' | 'sessions'>): ByPassword {
  const settings = createExpiringCache<'all', Settings>({ forMs: SETTINGS_REMEMBERED_MS, most: 1, now })
  const right = createExpiringCache<string, RightPassword>({
    forMs: PASSWORD_REMEMBERED_MS,
    most: MOST_PASSWORDS,
    now,
  })
  const codeOf = createCode()

  return async (login, requester, admitsExpired) => {
    const rules = await settings.get('all', settingsStore(store.db).get)
    if (!rules.basicAllowed && !admitsExpired) {
      throw new Refusal(
        'unauthorized',
        'Basic is switched off here; get a token from POST /v1/users/authorize',
      )
    }
    const source = sourceOf(requester.address)
    const code = codeOf(login, source)
    const check = async (): Promise<RightPassword> => {
      const { user, issuedMs } = await logins.check(login, { ...requester, via: 'basic' }, { admitsExpired })
      return { userUid: user.uid, epoch: user.tokenEpoch, issuedMs }
    }
    let known = await right.get(code, check)
    let identity = await identities.get(known.userUid)
    if (identity === undefined || isStale(identity, known.epoch, { source, rules, nowMs: now() })) {
      // Something about the user has changed since: so the password is checked again.
      right.forget(code)
      known = await right.get(code, check)
      identity = await identities.get(known.userUid)
    }
    if (identity === undefined || identity.user.disabled) throw new Refusal('invalid_credentials')
    if (!admitsExpired && isExpired(known.issuedMs, rules.passwordDays, now())) {
      throw new Refusal('password_expired')
    }
    return { ...requester, user: identity.principal, token: null }
  }
}

function admit(claims: Claims | undefined, identity: Identity | undefined, requester: Requester): Caller {
  if (claims === undefined || identity === undefined || !isGood(claims, identity)) {
    throw new Refusal(
      'unauthorized',
      'the token is not valid, or no longer; get one from POST /v1/users/authorize',
    )
  }
  const { id, expiresAtMs, signedInMs, isSession } = claims
  const token = { id, expiresAtMs, signedInMs, ...(isSession && { isSession }) }
  return { ...requester, user: identity.principal, token }
}

function isGood({ id, epoch }: { readonly id: string; readonly epoch: number }, identity: Identity): boolean {
  const { user, revokedTokens } = identity
  return !user.disabled && user.tokenEpoch === epoch && !revokedTokens.has(id)
}

function isStale(
  { user, locks }: Identity,
  epoch: number,
  at: { readonly source: string; readonly rules: Settings; readonly nowMs: number },
): boolean {
  const isLocked = at.rules.lockout.threshold > 0 && at.nowMs < (locks.get(at.source) ?? 0)
  return user.disabled || user.tokenEpoch !== epoch || isLocked
}

/** The key under which a password is remembered: it has no meaning outside of this process. */
function createCode(): (login: Login, source: string) => string {
  const secret = randomBytes(32)
  return ({ name, password }, source) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([name, password, source]))
      .digest('base64')
}

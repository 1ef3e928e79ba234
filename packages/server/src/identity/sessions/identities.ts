import { isLimitable, operatorPrincipal, type Principal } from '../../core/identity/access.ts'
import { noFailures } from '../../core/identity/lockout.ts'
import { type Role, type User, usualAlerts } from '../../core/identity/user.ts'
import type { Store } from '../../store/open-store.ts'
import { loginLanesStore } from '../stores/login-lanes-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { revokedTokensStore } from '../stores/revoked-tokens-store.ts'
import { rolesStore } from '../stores/roles-store.ts'
import { usersStore } from '../stores/users-store.ts'
import { createExpiringCache } from './expiring-cache.ts'

/** All that is asked of a user on every request. */
export interface Identity {
  readonly user: User
  readonly principal: Principal
  readonly newestPasswordMs: number
  readonly revokedTokens: ReadonlySet<string>
  /** Until when each source is locked out of the account, Unix milliseconds. */
  readonly locks: ReadonlyMap<string, number>
}

/** What requests need to know of a user, remembered for a moment. */
export interface Identities {
  /** Undefined: there is no such user. */
  get(userUid: number): Promise<Identity | undefined>
  /** What was read a moment ago, at once; undefined when nothing was. */
  recall(userUid: number): Identity | undefined
  /** Something about the user has changed; call it once that is written. */
  forget(userUid: number): void
}

/** What another server changes is seen here after so long; what is changed here, at once. */
const REMEMBERED_MS = 1_000
const MOST_REMEMBERED = 10_000

/** Reads from `store` what is not remembered; `now` is Unix milliseconds. */
export function createIdentities(store: Store, now: () => number): Identities {
  const memory = createExpiringCache<number, Identity | undefined>({
    forMs: REMEMBERED_MS,
    most: MOST_REMEMBERED,
    now,
  })
  return {
    get: (uid) =>
      memory.get(uid, async () => (uid === operator.uid ? operatorIdentity : readIdentity(uid, store))),
    recall: memory.recall,
    forget: memory.forget,
  }
}

const { uid, name } = operatorPrincipal
const operator: User = {
  ...{ uid, name, email: null, roleUids: [], disabled: false, tokenEpoch: 0 },
  ...{ failures: noFailures, lastLoginMs: null, alerts: usualAlerts },
}
/** The operator of the machine has no password; its tokens are few and short. */
const operatorIdentity: Identity = {
  ...{ user: operator, principal: operatorPrincipal },
  ...{ newestPasswordMs: 0, revokedTokens: new Set(), locks: new Map() },
}

async function readIdentity(uid: number, { db }: Store): Promise<Identity | undefined> {
  const user = await usersStore(db).get(uid)
  if (user === undefined) return undefined
  const passwords = await passwordsStore(db).listOf(uid)
  const grants = (await rolesStore(db).listOf(uid)).map(toGrant)
  return {
    user,
    principal: { uid, name: user.name, grants },
    newestPasswordMs: Math.max(0, ...passwords.map(({ issuedMs }) => issuedMs)),
    revokedTokens: await revokedTokensStore(db).listOf(uid),
    locks: await loginLanesStore(db).locksOf(uid),
  }
}

function toGrant({ management, databases }: Role): Principal['grants'][number] {
  return { management, databases: databases.length > 0 && isLimitable(management) ? databases : null }
}
